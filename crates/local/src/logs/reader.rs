//! The lines of a log from the first wanted one on, and, if asked for, those to come until the container ends.

use std::io::SeekFrom;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use jiff::Timestamp;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncSeekExt as _, BufReader};
use tokio::sync::watch;

use super::options::Options;

/// How much is handed on at once.
const PIECE: usize = 32 * 1024;
/// How much is read at once on the way back to the first of the last lines.
const STEP: u64 = 64 * 1024;
/// The longest line of a log: what a container says at once, its time and stream.
const MAX_LINE: u64 = 20 * 1024;

/// A log that is being read.
pub(super) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    options: Options,
    /// None: nobody writes any more.
    growing: Option<watch::Receiver<()>>,
    /// How many bytes may still be said.
    left: u64,
    /// What there is of a line whose end is still to be written.
    line: Vec<u8>,
    /// Whether the next thing said begins a line.
    begins: bool,
    is_over: bool,
}

impl Reader {
    pub(super) async fn open(
        path: PathBuf,
        options: Options,
        growing: Option<watch::Receiver<()>>,
    ) -> std::io::Result<Self> {
        let mut file = File::open(&path).await?;
        if let Some(lines) = options.tail_lines {
            let from = last_lines(&mut file, lines).await?;
            file.seek(SeekFrom::Start(from)).await?;
        }
        let left = options.limit_bytes.unwrap_or(u64::MAX);
        let growing = growing.filter(|_| options.follow);
        let file = BufReader::new(file);
        Ok(Self { path, file, options, growing, left, line: Vec::new(), begins: true, is_over: false })
    }

    /// The next piece; None when there is no more to come.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        let mut piece = Vec::new();
        while !self.is_over && piece.len() < PIECE {
            // Looked at before reading: what is written meanwhile wakes us up.
            let ends = self.growing.as_mut().is_none_or(|growing| {
                growing.borrow_and_update();
                growing.has_changed().is_err()
            });
            match self.line().await {
                Ok(true) => self.say(&mut piece),
                Ok(false) if self.turn_over().await => {}
                Ok(false) if ends => self.is_over = true,
                Ok(false) if piece.is_empty() => {
                    if let Some(growing) = &mut self.growing {
                        // An error says that nobody writes any more, which is looked at next.
                        let _ = growing.changed().await;
                    }
                }
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(log = %self.path.display(), %error, "a log cannot be read on");
                    self.is_over = true;
                }
            }
        }
        (!piece.is_empty()).then_some(piece)
    }

    /// Reads on; true when a line is complete.
    async fn line(&mut self) -> std::io::Result<bool> {
        let room = MAX_LINE.saturating_sub(self.line.len() as u64);
        (&mut self.file).take(room).read_until(b'\n', &mut self.line).await?;
        Ok(self.line.ends_with(b"\n") || self.line.len() as u64 >= MAX_LINE)
    }

    /// Goes on in the next file, when this one was put aside; false when it was not.
    async fn turn_over(&mut self) -> bool {
        let here = self.file.get_ref().metadata().await.map(|it| it.ino()).ok();
        let Ok(next) = File::open(&self.path).await else { return false };
        if next.metadata().await.map(|it| it.ino()).ok() == here {
            return false;
        }
        // It may have grown between the last look and its end.
        if matches!(self.line().await, Ok(true)) {
            return true;
        }
        self.line.clear();
        self.file = BufReader::new(next);
        true
    }

    /// Adds a line to the piece, unless it is older than what is wanted.
    fn say(&mut self, piece: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let Some(entry) = Entry::parse(&line) else { return };
        if self.options.since.is_some_and(|since| entry.time < since) {
            return;
        }
        let before = piece.len();
        if self.options.timestamps && self.begins {
            piece.extend_from_slice(format!("{:.9} ", entry.time).as_bytes());
        }
        piece.extend_from_slice(entry.text);
        if entry.is_whole {
            piece.push(b'\n');
        }
        self.begins = entry.is_whole;
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX);
        if piece.len() - before >= allowed {
            piece.truncate(before + allowed);
            self.is_over = true;
        }
        self.left -= (piece.len() - before) as u64;
    }
}

/// A line of a log.
struct Entry<'a> {
    time: Timestamp,
    /// Whether the container ended the line here.
    is_whole: bool,
    text: &'a [u8],
}

impl<'a> Entry<'a> {
    /// `TIME STREAM TAG TEXT`; None for what is not of this form, as after a power cut.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n")?;
        let mut words = line.splitn(4, |byte| *byte == b' ');
        let time = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        let (_stream, tag, text) = (words.next()?, words.next()?, words.next()?);
        Some(Self { time, is_whole: tag == b"F", text })
    }
}

/// Where the last so many lines begin.
async fn last_lines(file: &mut File, mut lines: u64) -> std::io::Result<u64> {
    let mut end = file.metadata().await?.len();
    let mut block = Vec::new();
    // The end of the last line begins no other.
    lines = lines.saturating_add(1);
    while end > 0 {
        let from = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(from)).await?;
        block.clear();
        (&mut *file).take(end - from).read_to_end(&mut block).await?;
        for (at, _) in block.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            lines -= 1;
            if lines == 0 {
                return Ok(from + at as u64 + 1);
            }
        }
        end = from;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str, lines: &str) -> Self {
            let path = std::env::temp_dir().join(format!("muster-reader-{test}-{}.log", std::process::id()));
            std::fs::write(&path, lines).unwrap();
            Self(path)
        }

        async fn read(&self, query: &str) -> String {
            let options = Options::parse(query).unwrap();
            let mut reader = Reader::open(self.0.clone(), options, None).await.unwrap();
            all(&mut reader).await
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.0));
        }
    }

    async fn all(reader: &mut Reader) -> String {
        let mut said = Vec::new();
        while let Some(piece) = reader.next().await {
            said.extend(piece);
        }
        String::from_utf8(said).unwrap()
    }

    const LINES: &str = "2026-01-01T00:00:01.000000001Z stdout F one\n2026-01-01T00:00:02.5Z stderr P tw\n\
                         2026-01-01T00:00:02.6Z stderr F o\n2026-01-01T00:00:03Z stdout F \n2026-01-01T00:00:04Z stdout F four\n";

    #[tokio::test]
    async fn as_much_as_is_wanted() {
        let log = Scratch::new("much", LINES);
        for (query, wanted) in [
            ("", "one\ntwo\n\nfour\n"),
            ("tailLines=2", "\nfour\n"),
            ("tailLines=0", ""),
            ("tailLines=100", "one\ntwo\n\nfour\n"),
            ("limitBytes=6", "one\ntw"),
            ("sinceTime=2026-01-01T00:00:03Z", "\nfour\n"),
            (
                "sinceTime=2026-01-01T00:00:03Z&timestamps=true",
                "2026-01-01T00:00:03.000000000Z \n2026-01-01T00:00:04.000000000Z four\n",
            ),
            ("timestamps=true&tailLines=4&limitBytes=34", "2026-01-01T00:00:02.500000000Z two"),
        ] {
            assert_eq!(log.read(query).await, wanted, "{query}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_no_line_is_left_out() {
        let log = Scratch::new("torn", &format!("\0\0\0\n{LINES}2026-01-01T00:00:05Z std"));
        assert_eq!(log.read("").await, "one\ntwo\n\nfour\n");
    }

    #[tokio::test]
    async fn the_last_lines_of_a_long_log() {
        let line = |n: u32| format!("2026-01-01T00:00:01Z stdout F line {n}\n");
        let log = Scratch::new("long", &(0..10_000).map(line).collect::<Vec<_>>().concat());
        assert_eq!(log.read("tailLines=2").await, "line 9998\nline 9999\n");
        assert_eq!(log.read("tailLines=9999").await.lines().next(), Some("line 1"));
        assert_eq!(log.read("").await.lines().count(), 10_000);
    }

    #[tokio::test]
    async fn whoever_follows_hears_all_until_the_end_also_in_the_next_file() {
        use std::io::Write as _;
        let log = Scratch::new("follow", LINES);
        let (grown, growing) = watch::channel(());
        let options = Options { follow: true, tail_lines: Some(1), ..Options::default() };
        let mut reader = Reader::open(log.0.clone(), options, Some(growing)).await.unwrap();
        assert_eq!(reader.next().await.unwrap(), b"four\n");
        let write = |line: &str| {
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&log.0).unwrap();
            file.write_all(line.as_bytes()).unwrap();
            grown.send_replace(());
        };
        write("2026-01-01T00:00:05Z stdout");
        write(" F five\n");
        assert_eq!(reader.next().await.unwrap(), b"five\n");
        write("2026-01-01T00:00:06Z stdout F six\n");
        let aside = log.0.with_extension("log.1");
        std::fs::rename(&log.0, &aside).unwrap();
        write("2026-01-01T00:00:07Z stdout F seven\n");
        std::fs::remove_file(aside).unwrap();
        let next = async { all(&mut reader).await };
        let end = async {
            tokio::task::yield_now().await;
            drop(grown);
        };
        assert_eq!(tokio::join!(next, end).0, "six\nseven\n");
    }
}
