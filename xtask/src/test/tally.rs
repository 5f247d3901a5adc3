//! Counting results: libtest's own lines, one for each test binary.

use std::fmt;

/// How many passed, failed, and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Reads libtest's `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; …`. What was
    /// ignored or filtered out was skipped. Any other line is none of ours.
    pub(super) fn from_line(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut tally = Self::default();
        for part in counts.split("; ") {
            let Some((number, what)) = part.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => tally.passed += number,
                "failed" => tally.failed += number,
                "ignored" | "filtered out" => tally.skipped += number,
                _ => {}
            }
        }
        Some(tally)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_line_is_counted() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s";
        assert_eq!(Tally::from_line(line), Some(Tally { passed: 3, failed: 2, skipped: 5 }));
        let line =
            "test result: ok. 8 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.05s";
        assert_eq!(Tally::from_line(line), Some(Tally { passed: 8, failed: 0, skipped: 0 }));
    }

    #[test]
    fn other_lines_are_not() {
        for line in ["running 3 tests", "test a::b ... ok", "test result", ""] {
            assert_eq!(Tally::from_line(line), None);
        }
    }

    #[test]
    fn the_last_line_has_its_exact_form() {
        assert_eq!(Tally { passed: 1, failed: 2, skipped: 3 }.to_string(), "1 passed, 2 failed, 3 skipped");
    }
}
