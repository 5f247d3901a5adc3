//! The log of `muster up`: a file beside the data, because the terminal is for people. It is put aside when it has grown long, and the one that
//! was put aside before is forgotten: what is newest is always there, and both together have a bound.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result};

/// How long it may grow before it is put aside: days of a quiet cluster, minutes of a very unhappy one.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The longest line that is kept whole. One of us is far shorter; a message from elsewhere may be anything.
const MAX_LINE: usize = 64 * 1024;
/// What takes the place of what is cut off.
const CUT: &[u8] = b" [cut]\n";

/// Keeps the log in this directory from now on.
pub(super) fn keep(directory: &Path) -> Result<()> {
    let path = directory.join("log");
    let log = Log::open(path.clone(), MAX_BYTES);
    let log = log.with_context(|| format!("cannot write to {}", path.display()))?;
    tracing_subscriber::fmt().with_writer(Mutex::new(log)).with_ansi(false).with_target(false).init();
    Ok(())
}

/// A file that is put aside when it is too long.
struct Log {
    path: PathBuf,
    file: File,
    length: u64,
    limit: u64,
    /// Whether a person was told that it cannot be written.
    told: bool,
}

impl Log {
    /// Goes on where it ended.
    fn open(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let length = file.metadata()?.len();
        Ok(Self { path, file, length, limit, told: false })
    }

    fn put_aside(&mut self) -> io::Result<()> {
        match std::fs::rename(&self.path, self.path.with_extension("1")) {
            // Someone else put it away.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        *self = Self { told: self.told, ..Self::open(self.path.clone(), self.limit)? };
        Ok(())
    }

    fn append(&mut self, event: &[u8]) -> io::Result<()> {
        let kept = &event[..event.len().min(MAX_LINE)];
        let cut = if kept.len() < event.len() { CUT } else { &[] };
        let length = (kept.len() + cut.len()) as u64;
        if self.length > 0 && self.length + length > self.limit {
            self.put_aside()?;
        }
        self.file.write_all(kept)?;
        self.file.write_all(cut)?;
        self.length += length;
        Ok(())
    }
}

impl Write for Log {
    /// What comes at once is an event, and stays together. What cannot be written is lost, and a person is told once: a full disk must not
    /// stop what runs, and is the reason for much that they may wonder about.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        match self.append(event) {
            Ok(()) => self.told = false,
            Err(_) if self.told => {}
            Err(error) => {
                eprintln!("muster: cannot write to {}: {error}", self.path.display());
                self.told = true;
            }
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is gone after the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let directory = std::env::temp_dir().join(format!("muster-up-log-{test}-{}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            Self(directory)
        }

        fn open(&self) -> Log {
            Log::open(self.0.join("log"), 1000).unwrap()
        }

        fn text(&self, name: &str) -> String {
            std::fs::read_to_string(self.0.join(name)).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn it_has_a_bound_and_nothing_of_the_newest_is_lost() {
        let scratch = Scratch::new("bound");
        let mut said = Vec::new();
        for start in 0..3 {
            // Started again, it goes on.
            let mut log = scratch.open();
            for event in 0..100 {
                let line = format!("start {start}, event {event:3}, and more of it\n");
                log.write_all(line.as_bytes()).unwrap();
                said.push(line);
                let kept = |name| std::fs::metadata(scratch.0.join(name)).map_or(0, |file| file.len());
                assert!(kept("log") <= 1000 && kept("log.1") <= 1000);
            }
        }
        let kept = scratch.text("log.1") + &scratch.text("log");
        assert!(kept.len() > 1000 && said.concat().ends_with(&kept), "{kept}");
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 2);
    }

    #[test]
    fn a_full_disk_is_told_once_and_stops_nobody() {
        let mut log = Log::open("/dev/full".into(), 1000).unwrap();
        assert!(!log.told);
        for _ in 0..2 {
            log.write_all(b"event").unwrap();
            assert!(log.told);
        }
    }

    #[test]
    fn one_endless_event_is_cut() {
        let scratch = Scratch::new("endless");
        let mut log = scratch.open();
        log.write_all("before\n".as_bytes()).unwrap();
        log.write_all(&vec![b'x'; 10 * MAX_LINE]).unwrap();
        log.write_all("after\n".as_bytes()).unwrap();
        assert_eq!(scratch.text("log"), "after\n");
        let aside = scratch.text("log.1");
        assert!(aside.len() <= MAX_LINE + CUT.len() && aside.ends_with("xxx [cut]\n"));
    }
}
