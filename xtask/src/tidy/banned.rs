//! What is left in code by accident, and sleeping in tests.

use super::rust_code::{code_only, is_word, line_of, test_items, words};
use super::tree::{File, Finding, Tree};

/// Macros that say "not finished".
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Notes that say the same; put together here so that this file holds none.
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Where tests may sleep, and why.
const MAY_SLEEP: [(&str, &str); 1] =
    [("tests/control-plane/src/wait.rs", "the one place that waits between two questions, with a deadline")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let code = code_only(&file.text);
        findings.extend(unfinished(file, &code));
        if !MAY_SLEEP.iter().any(|(path, _)| *path == file.path) {
            findings.extend(sleeps(file, &code));
        }
    }
    findings
}

fn unfinished(file: &File, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |text: &str, at, what: &str| {
        findings.push(Finding::line(
            &file.path,
            line_of(text, at),
            format!("`{what}` does not stay in the code"),
        ));
    };
    for name in MACROS {
        for at in words(code, name).filter(|at| code[at + name.len()..].starts_with('!')) {
            found(code, at, &format!("{name}!"));
        }
    }
    for (at, _) in code.match_indices("#[ignore") {
        found(code, at, "#[ignore]");
    }
    for note in NOTES {
        for at in words(&file.text, note) {
            found(&file.text, at, note);
        }
    }
    findings
}

/// A test that sleeps is slow when all is well and fails when the machine is busy.
fn sleeps(file: &File, code: &str) -> Vec<Finding> {
    let all_tests = file.path.split('/').any(|part| part == "tests" || part == "tests.rs");
    let tests = test_items(code);
    words(code, "sleep")
        .filter(|at| code[at + "sleep".len()..].starts_with('('))
        .filter(|at| !code[..*at].trim_end().ends_with("fn") && is_call(code, *at))
        .map(|at| line_of(code, at))
        .filter(|line| all_tests || tests.iter().any(|span| span.contains(*line)))
        .map(|line| {
            Finding::line(&file.path, line, "tests do not sleep: wait for what must happen, with a bound")
        })
        .collect()
}

/// A function, not the method of some object.
fn is_call(code: &str, at: usize) -> bool {
    let before = code[..at].chars().next_back();
    before.is_none_or(|c| c != '.' && !is_word(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::said;

    fn found_in(path: &str, text: &str) -> Vec<String> {
        said(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn unfinished_code_is_found() {
        for name in MACROS {
            let expected = format!("a.rs:2: `{name}!` does not stay in the code");
            assert_eq!(found_in("a.rs", &format!("fn a() {{\n{name}!(b) }}")), [expected]);
        }
        assert_eq!(found_in("a.rs", "#[ignore = \"b\"]").len(), 1);
        assert_eq!(found_in("a.rs", "#[ignore]").len(), 1);
    }

    #[test]
    fn notes_are_found_in_comments() {
        for note in NOTES {
            assert_eq!(found_in("a.rs", &format!("a();\n// {note}: b")).len(), 1);
        }
    }

    #[test]
    fn words_in_strings_and_comments_are_no_macros() {
        assert!(found_in("a.rs", "f(\"dbg!\"); // todo!\nmy_dbg!(a)").is_empty());
    }

    #[test]
    fn sleeping_is_found_in_tests_and_only_there() {
        let code = "fn a() { thread::sleep(b) }\n#[cfg(test)]\nmod tests {\nfn c() { sleep(d) }\n}\n";
        let expected = "src/a.rs:4: tests do not sleep: wait for what must happen, with a bound";
        assert_eq!(found_in("src/a.rs", code), [expected]);
        assert_eq!(found_in("crates/a/tests/b.rs", code).len(), 2);
        assert_eq!(found_in("crates/a/src/b/tests.rs", code).len(), 2);
        assert!(found_in("crates/a/tests/b.rs", "fn sleep() { c.sleep(d) }").is_empty());
    }
}
