//! Decisions are numbered, in order, and named by what they decide.

use super::tree::{Finding, Tree};
use std::collections::BTreeMap;

const DIRECTORY: &str = "docs/decisions/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut numbers: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for path in &tree.paths {
        let Some(name) = path.strip_prefix(DIRECTORY) else { continue };
        match number(name) {
            Some(number) => numbers.entry(number).or_default().push(path),
            None => findings.push(Finding::file(path, "decisions are named NNNN-title-in-small-letters.md")),
        }
    }
    for (expected, (number, paths)) in (1..).zip(&numbers) {
        if *number != expected {
            findings.push(Finding::file(paths[0], format!("there is no decision {expected:04}")));
            break;
        }
    }
    for paths in numbers.values().filter(|paths| paths.len() > 1) {
        findings.push(Finding::file(paths[1], format!("has the number of {}", paths[0])));
    }
    findings
}

/// The number in `0001-record-decisions.md`.
fn number(name: &str) -> Option<u32> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let good = number.len() == 4 && !title.is_empty() && title.chars().all(word);
    good.then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    fn found_in(names: &[&str]) -> Vec<String> {
        let paths: Vec<_> = names.iter().map(|name| format!("{DIRECTORY}{name}")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "")).collect();
        said(&check(&Tree::of(&files)))
    }

    #[test]
    fn good_names_are_not_found() {
        assert!(found_in(&["0001-a.md", "0002-b-c2.md"]).is_empty());
    }

    #[test]
    fn bad_names_are() {
        for name in ["1-a.md", "0001_a.md", "0001-A.md", "0001-.md", "0001-a.txt", "README.md", "000x-a.md"] {
            assert_eq!(found_in(&[name]).len(), 1, "{name}");
        }
    }

    #[test]
    fn a_gap_and_a_number_used_twice_are_found() {
        assert_eq!(
            found_in(&["0001-a.md", "0003-b.md"]),
            ["docs/decisions/0003-b.md: there is no decision 0002"]
        );
        let expected = ["docs/decisions/0001-b.md: has the number of docs/decisions/0001-a.md"];
        assert_eq!(found_in(&["0001-a.md", "0001-b.md"]), expected);
    }
}
