//! Every dependency is named once, in the root manifest, and has its reason in the decision about dependencies.

use super::tables::{quoted, rows};
use super::tree::{File, Finding, Tree};

const MANIFEST: &str = "Cargo.toml";
const REASONS: &str = "docs/decisions/0002-dependencies.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    // A manifest with a workspace of its own is no member: it is built by other tools.
    let apart = |file: &File| file.text.lines().any(|line| line == "[workspace]");
    let members = tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml") && !apart(file));
    let mut findings: Vec<_> = members.flat_map(outside_the_workspace).collect();
    let Some(manifest) = tree.file(MANIFEST) else { return findings };
    let Some(reasons) = tree.file(REASONS) else {
        findings.push(Finding::file(REASONS, "is missing"));
        return findings;
    };
    let used: Vec<_> = dependencies(manifest).filter(|d| d.section == "[workspace.dependencies]").collect();
    let used: Vec<_> = used.into_iter().filter(|d| !d.value.contains("path =")).collect();
    // A reason is a row whose first cell is the name in backticks and whose second is not empty.
    let reasoned: Vec<_> = rows(&reasons.text)
        .filter(|row| row.cells.get(1).is_some_and(|reason| !reason.is_empty()))
        .filter_map(|row| Some((row.line, quoted(row.cells[0]).next()?)))
        .collect();
    for dependency in &used {
        if !reasoned.iter().any(|(_, name)| *name == dependency.name) {
            let message = format!("`{}` has no reason in {REASONS}", dependency.name);
            findings.push(Finding::line(MANIFEST, dependency.line, message));
        }
    }
    for (line, name) in reasoned {
        if !used.iter().any(|dependency| dependency.name == name) {
            findings.push(Finding::line(
                REASONS,
                line,
                format!("`{name}` is no dependency of the workspace"),
            ));
        }
    }
    findings
}

/// Members take their dependencies from the workspace, so that a version is chosen once.
fn outside_the_workspace(file: &File) -> Vec<Finding> {
    let own = dependencies(file)
        .filter(|d| !d.value.contains("workspace = true") && !d.name.ends_with(".workspace"));
    own.map(|d| Finding::line(&file.path, d.line, format!("take `{}` from the workspace", d.name))).collect()
}

struct Dependency<'a> {
    line: usize,
    section: &'a str,
    name: &'a str,
    value: &'a str,
}

/// Every line `name = value` in a section of dependencies.
fn dependencies(file: &File) -> impl Iterator<Item = Dependency<'_>> {
    let mut section = "";
    file.text.lines().enumerate().filter_map(move |(i, line)| {
        if line.starts_with('[') {
            section = line.trim();
        }
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let counts = section.ends_with("dependencies]") && !name.starts_with('#');
        counts.then_some(Dependency { line: i + 1, section, name, value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    const ROOT: &str =
        "[workspace.dependencies]\na = \"1\"\nb = { version = \"1\" }\nown = { path = \"own\" }\n";

    fn found_in(reasons: &str) -> Vec<String> {
        said(&check(&Tree::of(&[(MANIFEST, ROOT), (REASONS, reasons)])))
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        assert!(found_in("| `a` | reason |\n| `b` | reason |\n").is_empty());
        let expected = ["Cargo.toml:3: `b` has no reason in docs/decisions/0002-dependencies.md"];
        assert_eq!(found_in("| `a` | reason |\n"), expected);
        assert_eq!(found_in("| `a` | reason |\n| `b` | |\n"), expected);
    }

    #[test]
    fn a_reason_without_a_dependency_is_found() {
        let expected = ["docs/decisions/0002-dependencies.md:3: `c` is no dependency of the workspace"];
        assert_eq!(found_in("| `a` | reason |\n| `b` | reason |\n| `c` | reason |\n"), expected);
    }

    #[test]
    fn a_missing_decision_is_found() {
        assert_eq!(said(&check(&Tree::of(&[(MANIFEST, ROOT)]))), [format!("{REASONS}: is missing")]);
    }

    #[test]
    fn a_workspace_apart_is_no_member() {
        let apart = "[workspace]\n[dependencies]\nc = \"1\"\n";
        assert!(said(&check(&Tree::of(&[("crates/x/fuzz/Cargo.toml", apart)]))).is_empty());
    }

    #[test]
    fn a_member_with_a_version_of_its_own_is_found() {
        let member = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = { workspace = true }\nc = \"1\"\n";
        let found = said(&check(&Tree::of(&[("crates/x/Cargo.toml", member)])));
        assert_eq!(found, ["crates/x/Cargo.toml:6: take `c` from the workspace"]);
    }
}
