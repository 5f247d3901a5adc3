//! Relative links between pages lead somewhere.

use super::tree::{File, Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let broken = |file: &File| {
        let links = links(&file.text).into_iter();
        let broken =
            links.filter(|(_, target)| resolve(&file.path, target).is_none_or(|path| !tree.has(&path)));
        let found =
            broken.map(|(line, t)| Finding::line(&file.path, line, format!("the link to {t} leads nowhere")));
        found.collect::<Vec<_>>()
    };
    tree.markdown().flat_map(broken).collect()
}

/// Every `](target)` outside code that is neither an address nor a place on the same page, with its line.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut in_fence = false;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        let prose = line.split('`').step_by(2);
        let targets =
            prose.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
        let relative =
            targets.filter(|t| !t.contains("://") && !t.starts_with('#') && !t.starts_with("mailto:"));
        found.extend(relative.map(|target| (i + 1, target)));
    }
    found
}

/// The path from the root that a link in a page means; nothing if it leaves the checkout.
fn resolve(page: &str, target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    fn found_in(text: &str) -> Vec<String> {
        said(&check(&Tree::of(&[("docs/a.md", text), ("docs/b.md", ""), ("README.md", ""), ("x/y.rs", "")])))
    }

    #[test]
    fn links_that_lead_somewhere_are_not_found() {
        assert!(
            found_in("[b](b.md) [c](./b.md#d) [e](../README.md) [f](../x) [g](#h) [i](https://j.k)")
                .is_empty()
        );
    }

    #[test]
    fn broken_links_are_found() {
        for target in ["c.md", "../b.md", "../../README.md", "b.md/c"] {
            let expected = format!("docs/a.md:2: the link to {target} leads nowhere");
            assert_eq!(found_in(&format!("\n[x]({target})")), [expected]);
        }
    }

    #[test]
    fn code_holds_no_links() {
        assert!(found_in("`[x](y)`\n```\n[x](y)\n```\n").is_empty());
    }

    #[test]
    fn a_link_after_code_on_the_same_line_is_seen() {
        assert_eq!(found_in("`z` [x](y)").len(), 1);
    }
}
