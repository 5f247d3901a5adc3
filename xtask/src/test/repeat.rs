//! A test that failed among others is run once more, alone: on a busy machine real servers have bad seconds.
//!
//! It passes then, and is named once more at the end of the whole run, so that nobody takes it for a test that holds. Where
//! many fail that is no accident, and nothing is repeated.

use super::tally::Tally;
use anyhow::{Context, Result};
use muster_test_assets::SKIPPED;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

/// More than these in one program is no accident. Tests that share one world fail together when it breaks.
pub(super) const MOST: usize = 12;
/// What the line begins with by which a test is named that passed only when it was repeated.
pub(super) const REPEATED: &str = "passed only when repeated: ";

/// What libtest said of one program, without the line of its result, which depends on what becomes of the failures.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    result: Option<String>,
    failed: Vec<String>,
    /// How many said that they could not run: libtest takes them for passed.
    skipped: u64,
}

/// Copies what libtest says, all but its result.
pub(super) fn listen(output: impl Read, copy: &mut impl Write) -> Result<Said> {
    let mut said = Said::default();
    let mut in_list = false;
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if text.starts_with(SKIPPED) {
            said.skipped += 1;
        }
        if text == "failures:" {
            // Their output comes under the same words; the list of their names is the last.
            in_list = true;
            said.failed.clear();
        } else if let Some(name) = text.strip_prefix("    ").filter(|name| in_list && !name.contains(' ')) {
            said.failed.push(name.to_owned());
        }
        if Tally::from_line(&text).is_some() {
            in_list = false;
            said.result = Some(text);
        } else {
            copy.write_all(&line)?;
        }
        line.clear();
    }
    copy.flush()?;
    Ok(said)
}

/// The result of a program in the words of libtest, after its failures, if they are no more than `most`, were repeated by `again`, which
/// runs one test alone. True: nothing failed.
pub(super) fn conclude(
    said: &Said,
    success: bool,
    most: usize,
    mut again: impl FnMut(&str) -> Result<bool>,
    told: &mut impl Write,
) -> Result<bool> {
    let Some(result) = &said.result else { return Ok(success) };
    let few = !said.failed.is_empty() && said.failed.len() <= most;
    let repeats = !success && few;
    if !repeats && said.skipped == 0 {
        writeln!(told, "{result}")?;
        return Ok(success);
    }
    let mut tally = Tally::from_line(result).unwrap_or_default();
    let not_run = said.skipped.min(tally.passed);
    (tally.passed, tally.skipped) = (tally.passed - not_run, tally.skipped + not_run);
    for name in said.failed.iter().filter(|_| repeats) {
        if again(name)? {
            writeln!(told, "{REPEATED}{name}")?;
            tally.passed += 1;
            tally.failed = tally.failed.saturating_sub(1);
        }
    }
    let word = if tally.failed == 0 { "ok" } else { "FAILED" };
    let Tally { passed, failed, skipped } = tally;
    writeln!(told, "test result: {word}. {passed} passed; {failed} failed; {skipped} filtered out")?;
    told.flush()?;
    Ok(failed == 0 && (success || repeats))
}

/// The command that runs one test alone. What it prints is shown, but for its own result, which is counted once.
pub(super) fn alone(program: &str, test: &str) -> Command {
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).stdout(Stdio::piped());
    command
}

/// Whether the one test that was run was there, and passed.
pub(super) fn passed_alone(output: impl Read, success: bool) -> Result<bool> {
    let said = listen(output, &mut std::io::stderr()).context("cannot read what a repeated test says")?;
    let tally = said.result.and_then(|line| Tally::from_line(&line)).unwrap_or_default();
    Ok(success && tally.passed == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "running 3 tests\n.F.\nfailures:\n\n---- a::b stdout ----\n    spaced out words\n\n\nfailures:\n    \
        a::b\n    a::c\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.0s\n";

    fn concluded(again: impl FnMut(&str) -> Result<bool>) -> (bool, String) {
        let said = listen(FAILED.as_bytes(), &mut Vec::new()).unwrap();
        let mut told = Vec::new();
        let good = conclude(&said, false, MOST, again, &mut told).unwrap();
        (good, String::from_utf8(told).unwrap())
    }

    #[test]
    fn everything_is_copied_but_the_result() {
        let mut copy = Vec::new();
        let said = listen(FAILED.as_bytes(), &mut copy).unwrap();
        assert_eq!(said.failed, ["a::b", "a::c"]);
        assert!(said.result.unwrap().starts_with("test result: FAILED. 1 passed"));
        assert_eq!(String::from_utf8(copy).unwrap(), FAILED[..FAILED.find("test result").unwrap()]);
    }

    #[test]
    fn what_passes_alone_has_passed_and_is_named() {
        let (good, told) = concluded(|_| Ok(true));
        assert!(good);
        let named = "passed only when repeated: a::b\npassed only when repeated: a::c\n";
        assert_eq!(told, format!("{named}test result: ok. 3 passed; 0 failed; 4 filtered out\n"));
    }

    #[test]
    fn what_fails_again_has_failed() {
        let (good, told) = concluded(|name| Ok(name == "a::b"));
        assert!(!good);
        assert!(told.ends_with("test result: FAILED. 2 passed; 1 failed; 4 filtered out\n"), "{told}");
    }

    #[test]
    fn who_said_that_it_could_not_run_has_not_passed() {
        let output = "running 3 tests\n.\nskipped: a::b: no root\n..\nskipped in part: a::c: no root\n\n\
            test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.0s\n";
        let mut copy = Vec::new();
        let said = listen(output.as_bytes(), &mut copy).unwrap();
        let mut told = Vec::new();
        assert!(conclude(&said, true, MOST, |_| unreachable!(), &mut told).unwrap());
        assert_eq!(String::from_utf8(told).unwrap(), "test result: ok. 2 passed; 0 failed; 5 filtered out\n");
        assert!(String::from_utf8(copy).unwrap().contains("skipped: a::b: no root\n"), "it is shown");
    }

    #[test]
    fn many_failures_are_no_accident() {
        let result = "test result: FAILED. 0 passed; 13 failed".to_owned();
        let said = Said { result: Some(result), failed: vec!["a".to_owned(); MOST + 1], skipped: 0 };
        let mut told = Vec::new();
        assert!(!conclude(&said, false, MOST, |_| unreachable!(), &mut told).unwrap());
        assert_eq!(told, b"test result: FAILED. 0 passed; 13 failed\n");
    }
}
