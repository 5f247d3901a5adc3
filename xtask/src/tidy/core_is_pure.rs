//! crates/core decides and does nothing else: no client, no clock, no randomness, no machine.

use super::rust_code::{code_only, line_of, test_items, words};
use super::tree::{File, Finding, Tree};

/// Clocks; time is an argument.
const CLOCKS: [&str; 4] = ["SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now"];
/// Crates that bring a client, a runtime, or chance.
const CRATES: [&str; 8] =
    ["tokio", "rand", "fastrand", "getrandom", "reqwest", "hyper", "tower", "kube_client"];
/// Modules of std that reach the machine.
const MODULES: [&str; 5] = ["env", "fs", "net", "process", "thread"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.rust().filter(|file| file.path.starts_with("crates/core/src/"));
    let manifest = tree.file("crates/core/Cargo.toml");
    sources.flat_map(in_source).chain(manifest.into_iter().flat_map(in_manifest)).collect()
}

fn in_source(file: &File) -> Vec<Finding> {
    let code = code_only(&file.text);
    let tests = test_items(&code);
    let mut found = Vec::new();
    for name in CLOCKS.into_iter().chain(CRATES).chain(["kube::Client", "kube::client"]) {
        found.extend(words(&code, name).map(|at| (line_of(&code, at), name.to_owned())));
    }
    for module in MODULES {
        let at = words(&code, module).filter(|at| is_of_std(&code, *at));
        found.extend(at.map(|at| (line_of(&code, at), format!("std::{module}"))));
    }
    found
        .into_iter()
        .filter(|(line, _)| !tests.iter().any(|span| span.contains(*line)))
        .map(|(line, what)| {
            Finding::line(&file.path, line, format!("core is pure; it does not use `{what}`"))
        })
        .collect()
}

/// Whether what stands here is taken from std, alone or in braces.
fn is_of_std(code: &str, at: usize) -> bool {
    let before = &code[..at];
    if before.ends_with("std::") {
        return true;
    }
    let statement = before.rfind(';').map_or(before, |end| &before[end + 1..]);
    statement.rfind("std::{").is_some_and(|open| {
        let list = &statement[open + "std::{".len()..];
        // At the top of the list, not within a module's own.
        list.matches('{').count() == list.matches('}').count() && !list.ends_with("::")
    })
}

fn in_manifest(file: &File) -> Vec<Finding> {
    let mut section = "";
    let mut findings = Vec::new();
    for (i, line) in file.text.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        let is_crate = CRATES.contains(&name.replace('-', "_").as_str());
        if section == "[dependencies]" && is_crate {
            findings.push(Finding::line(
                &file.path,
                i + 1,
                format!("core is pure; it does not depend on `{name}`"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    fn found_in(text: &str) -> Vec<String> {
        said(&check(&Tree::of(&[("crates/core/src/a.rs", text)])))
    }

    #[test]
    fn clocks_clients_and_chance_are_found() {
        for name in CLOCKS.into_iter().chain(CRATES).chain(["kube::Client"]) {
            let expected = format!("crates/core/src/a.rs:2: core is pure; it does not use `{name}`");
            assert!(found_in(&format!("fn a() {{\n{name}() }}")).contains(&expected), "{name}");
        }
    }

    #[test]
    fn modules_of_std_that_reach_the_machine_are_found() {
        for code in ["use std::fs;", "std::env::var(a)", "use std::{collections::{A, B}, fs::{self, File}};"]
        {
            assert_eq!(found_in(code).len(), 1, "{code}");
        }
        for code in
            ["use std::fmt;", "use super::{env, fs};", "let fs = 1;", "use std::{fmt::{fs}}; let env = 1;"]
        {
            assert!(found_in(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn tests_of_core_and_other_crates_may() {
        assert!(found_in("#[cfg(test)]\nmod tests {\nuse std::fs;\n}").is_empty());
        let elsewhere = Tree::of(&[("crates/agent/src/a.rs", "use std::fs;")]);
        assert!(check(&elsewhere).is_empty());
    }

    #[test]
    fn the_manifest_is_checked_too() {
        let manifest = "[dependencies]\nserde.workspace = true\ntokio.workspace = true\n[dev-dependencies]\nrand = \"1\"";
        let tree = Tree::of(&[("crates/core/Cargo.toml", manifest)]);
        let expected = ["crates/core/Cargo.toml:3: core is pure; it does not depend on `tokio`"];
        assert_eq!(said(&check(&tree)), expected);
    }
}
