//! No path of somebody's machine gets into the project.

use super::tree::{Finding, Tree};

/// Where people and machines keep checkouts; put together here so that this file holds none.
const PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (i, line) in file.text.lines().enumerate() {
            for path in PATHS.iter().filter(|path| begins_a_path(line, path)) {
                findings.push(Finding::line(&file.path, i + 1, format!("`{path}` is a path of one machine")));
            }
        }
    }
    findings
}

/// Absolute, not the middle of a longer path or of an address.
fn begins_a_path(line: &str, path: &str) -> bool {
    let mut before = line.match_indices(path).map(|(at, _)| line[..at].chars().next_back());
    before.any(|c| c.is_none_or(|c| !c.is_alphanumeric() && !"_-.}/".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        for path in PATHS {
            let text = format!("a\nsee {path}x\n");
            let expected = format!("a.md:2: `{path}` is a path of one machine");
            assert_eq!(said(&check(&Tree::of(&[("a.md", &text)]))), [expected]);
        }
    }

    #[test]
    fn the_middle_of_another_path_is_not() {
        let text = format!("docs{}a github.com/x{0}b $HOME/y{0}", PATHS[0]);
        assert!(check(&Tree::of(&[("a.md", &text)])).is_empty());
    }
}
