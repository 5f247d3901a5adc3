//! Every Rust file opens with a `//!` that says which idea it owns.

use super::tree::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let lacking = tree.rust().filter(|file| !file.text.starts_with("//! "));
    lacking
        .map(|file| Finding::line(&file.path, 1, "open with a `//!` that says what this file is for"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    #[test]
    fn a_file_without_an_opening_is_found() {
        let tree = Tree::of(&[("a.rs", "//! An idea.\n"), ("b.rs", "use std::fs;\n"), ("c.md", "text")]);
        assert_eq!(said(&check(&tree)), ["b.rs:1: open with a `//!` that says what this file is for"]);
    }
}
