//! Files and functions stay small enough to be read in one go.

use super::rust_code::{code_only, functions};
use super::tree::{Finding, Tree};

/// Files rarely pass 400 lines; beyond this they hold two ideas.
const FILE_LINES: usize = 500;
/// Functions rarely pass 60 lines; beyond this they do not fit on a screen.
const FUNCTION_LINES: usize = 80;

/// Files that may be longer, or hold a longer function, each with the reason.
const ALLOWED: [(&str, &str); 0] = [];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_but(tree, &ALLOWED);
    let gone = ALLOWED.iter().filter(|(path, _)| !tree.has(path));
    findings.extend(gone.map(|(path, _)| Finding::file(path, "is allowed to be long, and is not there")));
    findings
}

fn check_but(tree: &Tree, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !allowed.iter().any(|(path, _)| *path == file.path)) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES {
            findings.push(Finding::file(&file.path, format!("{lines} lines; split it (limit {FILE_LINES})")));
        }
        for (name, span) in functions(&code_only(&file.text)) {
            if span.lines() > FUNCTION_LINES {
                let message =
                    format!("`{name}` has {} lines; split it (limit {FUNCTION_LINES})", span.lines());
                findings.push(Finding::line(&file.path, span.first, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    #[test]
    fn a_long_file_is_found_unless_it_is_allowed() {
        let (good, bad) = ("x\n".repeat(FILE_LINES), "x\n".repeat(FILE_LINES + 1));
        let tree = Tree::of(&[("good.rs", &good), ("bad.rs", &bad)]);
        assert_eq!(said(&check_but(&tree, &[])), ["bad.rs: 501 lines; split it (limit 500)"]);
        assert!(check_but(&tree, &[("bad.rs", "a table")]).is_empty());
    }

    #[test]
    fn a_long_function_is_found() {
        let body = |lines| format!("\nfn f() {{\n{}}}\n", "x;\n".repeat(lines));
        let tree = Tree::of(&[("good.rs", &body(FUNCTION_LINES - 2)), ("bad.rs", &body(FUNCTION_LINES - 1))]);
        assert_eq!(said(&check_but(&tree, &[])), ["bad.rs:2: `f` has 81 lines; split it (limit 80)"]);
    }
}
