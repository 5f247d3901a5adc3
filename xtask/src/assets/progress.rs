//! Showing that a long build lives: how many packages it has downloaded and compiled, every few seconds.

use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

const SAY_EVERY: Duration = Duration::from_secs(10);
/// What is shown of the output when a build fails.
const LINES_KEPT: usize = 40;

#[derive(Default)]
struct Seen {
    downloaded: usize,
    compiled: usize,
    last: VecDeque<String>,
}

impl Seen {
    /// `go build -v` prints each package when it starts on it, and what it downloads.
    fn line(&mut self, line: String) {
        if line.starts_with("go: downloading ") {
            self.downloaded += 1;
        } else if !line.contains(' ') {
            self.compiled += 1;
        }
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }
}

/// Runs a `go build -v`, with its progress on stderr.
pub(super) fn run(label: &str, command: &mut Command) -> Result<()> {
    let started = Instant::now();
    eprintln!("{label} …");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run go")?;
    let stderr = child.stderr.take().context("go has no stderr")?;
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut seen = Seen::default();
    let mut said = Instant::now();
    loop {
        match lines.recv_timeout(SAY_EVERY.saturating_sub(said.elapsed())) {
            Ok(line) => seen.line(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if said.elapsed() >= SAY_EVERY {
            said = Instant::now();
            let (Seen { downloaded, compiled, .. }, seconds) = (&seen, started.elapsed().as_secs());
            eprintln!(
                "  {label}: {downloaded} modules downloaded, {compiled} packages compiled, {seconds} s"
            );
        }
    }
    let status = child.wait().context("cannot wait for go")?;
    let _ = reader.join();
    if !status.success() {
        bail!("go build failed ({status}); the end of what it said:\n{}", Vec::from(seen.last).join("\n"));
    }
    eprintln!("  {label}: done in {} s", started.elapsed().as_secs());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_and_packages_are_counted_apart_from_other_lines() {
        let mut seen = Seen::default();
        for line in ["go: downloading k8s.io/api v0.36.3", "k8s.io/api/core/v1", "net", "# some error text"] {
            seen.line(line.into());
        }
        assert_eq!((seen.downloaded, seen.compiled), (1, 2));
    }

    #[test]
    fn a_failure_shows_what_the_command_said() {
        let error =
            run("it", Command::new("sh").args(["-c", "echo no such module >&2; exit 1"])).unwrap_err();
        assert!(error.to_string().contains("no such module"), "{error}");
    }
}
