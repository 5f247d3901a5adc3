//! docs/requirements.md has a row for every requirement, and what its rows name is there.

use super::rust_code::{code_only, functions};
use super::tables::{Row, quoted, rows};
use super::tree::{Finding, Tree};
use std::collections::BTreeSet;

const PAGE: &str = "docs/requirements.md";

/// How many requirements each group has: R0.1 to R0.9 and so on.
const GROUPS: [(&str, u32); 5] = [("R0", 9), ("R1", 6), ("R2", 9), ("R3", 7), ("R4", 8)];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(PAGE) else { return vec![Finding::file(PAGE, "is missing")] };
    let rows: Vec<_> = rows(&page.text).collect();
    let mut findings = missing(&rows);
    let (code, tests) = (column(&rows, "code"), column(&rows, "test"));
    let known = test_names(tree);
    for row in rows.iter().filter(|row| is_requirement(row.cells[0])) {
        for path in cell(row, code).filter(|path| path.contains('/') && !tree.has(path)) {
            findings.push(Finding::line(PAGE, row.line, format!("there is no `{path}`")));
        }
        for name in cell(row, tests) {
            let there = if name.contains('/') { tree.has(name) } else { known.contains(last(name)) };
            if !there {
                findings.push(Finding::line(PAGE, row.line, format!("there is no test `{name}`")));
            }
        }
    }
    findings
}

fn missing(rows: &[Row<'_>]) -> Vec<Finding> {
    let wanted = GROUPS.iter().flat_map(|(group, count)| (1..=*count).map(move |n| format!("{group}.{n}")));
    let missing = wanted.filter(|number| !rows.iter().any(|row| row.cells[0] == number));
    missing.map(|number| Finding::file(PAGE, format!("has no row for {number}"))).collect()
}

fn is_requirement(cell: &str) -> bool {
    GROUPS.iter().any(|(group, _)| cell.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')))
}

/// The column whose header begins with this word.
fn column(rows: &[Row<'_>], header: &str) -> Option<usize> {
    rows.iter().find_map(|row| row.cells.iter().position(|cell| cell.to_lowercase().starts_with(header)))
}

/// What stands in backticks in this column.
fn cell<'a>(row: &'a Row<'_>, column: Option<usize>) -> impl Iterator<Item = &'a str> {
    quoted(column.and_then(|column| row.cells.get(column)).copied().unwrap_or_default())
}

/// `name` of `module::name`.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The names of all functions: a test is one, and so is one that a macro such as `proptest!` makes a test of.
fn test_names(tree: &Tree) -> BTreeSet<String> {
    tree.rust().flat_map(|file| functions(&code_only(&file.text))).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;
    use std::fmt::Write;

    fn page(first_row: &str) -> String {
        let mut page =
            format!("| requirement | in our words | code | test |\n|---|---|---|---|\n{first_row}\n");
        for (group, count) in GROUPS {
            for n in (1..=count).filter(|n| group != "R0" || *n != 1) {
                writeln!(page, "| {group}.{n} | words | later | later |").unwrap();
            }
        }
        page
    }

    fn found_in(first_row: &str) -> Vec<String> {
        let test = "#[test]\nfn a_test() {}\nproptest! {\n#[test]\nfn a_property(a: u8) {}\n}";
        said(&check(&Tree::of(&[(PAGE, &page(first_row)), ("crates/a/src/a.rs", test)])))
    }

    #[test]
    fn a_complete_page_is_tidy() {
        let row = "| R0.1 | words | `crates/a/src/a.rs` | `a_test`, `a::tests::a_property` |";
        assert_eq!(found_in(row), [] as [&str; 0]);
    }

    #[test]
    fn a_missing_page_is_found() {
        assert_eq!(said(&check(&Tree::of(&[]))), ["docs/requirements.md: is missing"]);
    }

    #[test]
    fn a_missing_row_is_found() {
        assert_eq!(found_in(""), ["docs/requirements.md: has no row for R0.1"]);
    }

    #[test]
    fn a_test_that_is_not_there_is_found() {
        let expected = ["docs/requirements.md:3: there is no test `b_test`"];
        assert_eq!(found_in("| R0.1 | words | later | `b_test` |"), expected);
    }

    #[test]
    fn code_that_is_not_there_is_found() {
        let expected = ["docs/requirements.md:3: there is no `crates/b`"];
        assert_eq!(found_in("| R0.1 | words | `crates/b` | later |"), expected);
    }
}
