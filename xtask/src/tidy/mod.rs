//! `cargo xtask tidy`: the habits of this house that a program can check.
//!
//! Each rule is a function from the tree to what it finds; each has tests that show it finding something.

mod banned;
mod core_is_pure;
mod decisions;
mod dependencies;
mod links;
mod machine_paths;
mod openings;
mod requirements;
mod rust_code;
mod sizes;
mod tables;
mod tree;

use crate::workspace;
use anyhow::Result;
use tree::{Finding, Tree};

const RULES: [fn(&Tree) -> Vec<Finding>; 9] = [
    openings::check,
    sizes::check,
    banned::check,
    core_is_pure::check,
    decisions::check,
    dependencies::check,
    requirements::check,
    machine_paths::check,
    links::check,
];

/// Checks the checkout and says what it finds; true if that is nothing.
pub(crate) fn command() -> Result<bool> {
    let tree = Tree::load(&workspace::root())?;
    let findings: Vec<_> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    for finding in &findings {
        println!("{finding}");
    }
    Ok(findings.is_empty())
}
