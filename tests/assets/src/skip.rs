//! A test that cannot run here says so, and is counted as skipped: one that leaves without a word counts as passed, and proves nothing.
//!
//! libtest has no word for it, so it is a line on standard output, past what libtest captures; `cargo xtask test` counts these lines. Where
//! everything must run (`CI=true`) it is a failure.

use std::env;
use std::io::{self, Write};
use std::thread;

/// What the line begins with.
pub const SKIPPED: &str = "skipped: ";
/// The same of a test of which only a part could not run: it counts as passed, and is named.
pub const SKIPPED_IN_PART: &str = "skipped in part: ";

/// This test cannot run here, and this is why: it is to leave now.
///
/// # Panics
/// With `CI=true`.
pub fn skip(why: &str) {
    say(SKIPPED, why);
}

/// A part of this test cannot run here, and this is which, and why.
///
/// # Panics
/// With `CI=true`.
pub fn skip_part(why: &str) {
    say(SKIPPED_IN_PART, why);
}

fn say(word: &str, why: &str) {
    let thread = thread::current();
    let line = line(word, thread.name().unwrap_or("a test"), why);
    assert!(env::var("CI").as_deref() != Ok("true"), "{}", line.trim());
    // Nobody may read it: then nobody counts.
    let _ = io::stdout().lock().write_all(line.as_bytes());
}

/// libtest may have written to the line before, without its end.
fn line(word: &str, test: &str, why: &str) -> String {
    format!("\n{word}{test}: {why}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_and_begins_with_the_word() {
        assert_eq!(line(SKIPPED, "a::b", "no root"), "\nskipped: a::b: no root\n");
        assert!(
            !line(SKIPPED_IN_PART, "a::b", "no root").contains(SKIPPED),
            "one is not taken for the other"
        );
    }
}
