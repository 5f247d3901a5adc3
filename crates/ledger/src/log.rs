//! The log on disk: a header that names the history, then frames. What was synced is never changed.
//!
//! One frame at a time is written and then synced, so after a crash only the last can be torn: it was acknowledged to nobody, and
//! opening the log cuts it off. A damaged frame with a good one anywhere after it is not a torn one: the log cannot be read, and says so.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::frame::{Digest, Frame, FrameError, HEADER, MAX_BODY, hex};

const NAME: &str = "log";
const MAGIC: [u8; 8] = *b"mledger1";
/// The header: magic, history, and the same history again so that a damaged one is seen.
const BEGINNING: usize = 8 + 16 + 16;

/// Which log this is a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History([u8; 16]);

impl History {
    /// One that nobody has.
    pub fn fresh() -> Self {
        Self(rand::random())
    }

    /// The digest that the first frame names as the one before it.
    fn root(self) -> Digest {
        let mut root = [0; 32];
        root[..16].copy_from_slice(&self.0);
        root
    }
}

impl std::fmt::Display for History {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&hex(&self.0))
    }
}

impl std::str::FromStr for History {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(|number| Self(number.to_be_bytes())).ok_or(())
    }
}

/// How far a log reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Which log it is.
    pub history: History,
    /// The sequence of the last entry; 0 where there is none.
    pub sequence: u64,
    /// The digest of the last frame.
    pub digest: Digest,
}

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The disk says no.
    #[error("{0}: {1}")]
    Disk(PathBuf, #[source] io::Error),
    /// What is there is not what was written.
    #[error("{path} is damaged at byte {offset}: restore it from a copy, or let this member copy anew")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
    /// A frame does not follow the last one.
    #[error("a frame with entry {first} does not follow entry {last} of this log")]
    Gap {
        /// The frame's first.
        first: u64,
        /// The log's last.
        last: u64,
    },
}

/// Where a frame ends.
#[derive(Clone, Copy, Debug)]
struct Mark {
    sequence: u64,
    offset: u64,
    digest: Digest,
}

/// An open log.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    history: History,
    /// The end of the header and of every frame, in order: where a follower goes on.
    marks: Vec<Mark>,
}

impl Log {
    /// How far the log in this directory reaches, without changing it; none where there is no log.
    pub fn position_in(directory: &Path) -> Result<Option<Position>, LogError> {
        Ok(Self::look(directory)?.map(|log| log.position()))
    }

    /// The log in this directory to look at, without changing it; none where there is no log. Nothing can be written to it.
    pub fn look(directory: &Path) -> Result<Option<Self>, LogError> {
        let path = directory.join(NAME);
        match File::open(&path) {
            Ok(file) => Self::read(file, path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::Disk(path, error)),
        }
    }

    /// Begins a log where none is.
    pub fn create(directory: &Path, history: History) -> Result<Self, LogError> {
        let path = directory.join(NAME);
        let disk = |error| LogError::Disk(path.clone(), error);
        let beginning = [&MAGIC[..], &history.0, &history.0].concat();
        // It appears under its name only when it is whole, so a crash leaves no log without a history.
        let unfinished = directory.join("log.new");
        let mut file = File::create(&unfinished).map_err(disk)?;
        file.write_all(&beginning).and_then(|()| file.sync_all()).map_err(disk)?;
        std::fs::hard_link(&unfinished, &path).map_err(disk)?;
        std::fs::remove_file(&unfinished).map_err(disk)?;
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(disk)?;
        Self::open(directory)
    }

    /// Opens the log in this directory for writing, and cuts off a torn frame.
    pub fn open(directory: &Path) -> Result<Self, LogError> {
        let path = directory.join(NAME);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let log = Self::read(file.map_err(|error| LogError::Disk(path.clone(), error))?, path)?;
        let cut = log.file.set_len(log.end().offset).and_then(|()| log.file.sync_all());
        cut.map_err(|error| log.disk(error))?;
        Ok(log)
    }

    fn read(file: File, path: PathBuf) -> Result<Self, LogError> {
        let mut beginning = [0; BEGINNING];
        if let Err(error) = file.read_exact_at(&mut beginning, 0) {
            return Err(if error.kind() == io::ErrorKind::UnexpectedEof {
                LogError::Damaged { path, offset: 0 }
            } else {
                LogError::Disk(path, error)
            });
        }
        let (magic, histories) = beginning.split_at(8);
        let (one, other) = histories.split_at(16);
        if magic != MAGIC || one != other {
            return Err(LogError::Damaged { path, offset: 0 });
        }
        let history = History(one.try_into().unwrap_or_default());
        let start = Mark { sequence: 0, offset: BEGINNING as u64, digest: history.root() };
        let mut log = Self { file, path, history, marks: vec![start] };
        while let Some(frame) = log.next_frame()? {
            log.mark(&frame);
        }
        Ok(log)
    }

    /// The frame after the last mark; none at the end, or where the last frame is torn.
    fn next_frame(&self) -> Result<Option<Frame>, LogError> {
        let end = self.end();
        let disk = |error| self.disk(error);
        let mut bytes = vec![0; HEADER];
        let length = read_at_most(&self.file, &mut bytes, end.offset).map_err(disk)?;
        bytes.truncate(length);
        if let Some(header) = bytes.first_chunk::<HEADER>()
            && let Ok(body) = Frame::body_length(header)
        {
            bytes.resize(HEADER + body, 0);
            let more =
                read_at_most(&self.file, &mut bytes[HEADER..], end.offset + HEADER as u64).map_err(disk)?;
            bytes.truncate(HEADER + more);
        }
        match Frame::decode(&bytes) {
            Ok(frame) if frame.before == end.digest && frame.first == end.sequence + 1 && frame.count > 0 => {
                Ok(Some(frame))
            }
            Err(FrameError::Short | FrameError::Damaged) if !self.goes_on(end, self.torn(&bytes)?)? => {
                Ok(None)
            }
            _ => Err(LogError::Damaged { path: self.path.clone(), offset: end.offset }),
        }
    }

    /// The digest of a frame that was cut off in its body, if these bytes are what is left of one: its header follows the last mark,
    /// and the file ends where it does, or sooner.
    fn torn(&self, bytes: &[u8]) -> Result<Option<Digest>, LogError> {
        let end = self.end();
        let length = self.file.metadata().map_err(|error| self.disk(error))?.len();
        let header = bytes.first_chunk::<HEADER>().and_then(|header| Frame::header(header).ok());
        let follows = header.filter(|header| header.before == end.digest && header.first == end.sequence + 1);
        let last = follows.filter(|header| end.offset + (HEADER + header.body) as u64 >= length);
        Ok(last.map(|header| header.digest))
    }

    /// Whether a good frame begins anywhere after the bad one at this end. Entries are clients' words, and may be the bytes of a frame:
    /// within a torn one's body only that frame counts which names its digest, as no part of its own body can. Its length alone
    /// would not do to leave the body out: damaged, it reaches over good frames.
    fn goes_on(&self, end: Mark, torn: Option<Digest>) -> Result<bool, LogError> {
        let mut bytes = vec![0; 2 * (HEADER + MAX_BODY)];
        let mut from = end.offset + 1;
        let later =
            |frame: Frame| frame.first > end.sequence + 1 && torn.is_none_or(|digest| frame.before == digest);
        loop {
            let length = read_at_most(&self.file, &mut bytes, from).map_err(|error| self.disk(error))?;
            let starts = length.min(HEADER + MAX_BODY);
            if (0..starts).any(|at| bytes[at] == b'm' && Frame::decode(&bytes[at..length]).is_ok_and(later)) {
                return Ok(true);
            }
            if length < bytes.len() {
                return Ok(false);
            }
            from += starts as u64;
        }
    }

    /// How far it reaches.
    pub fn position(&self) -> Position {
        let end = self.end();
        Position { history: self.history, sequence: end.sequence, digest: end.digest }
    }

    /// Writes these entries as one frame and syncs it. After an error the log must not be used again.
    pub fn append<E: AsRef<[u8]>>(&mut self, entries: &[E]) -> Result<(), LogError> {
        let end = self.end();
        self.take(&Frame::new(end.sequence + 1, end.digest, entries))
    }

    /// Writes the next frame as it came, and syncs it. After an error the log must not be used again.
    pub fn take(&mut self, frame: &Frame) -> Result<(), LogError> {
        let end = self.end();
        if frame.first != end.sequence + 1 || frame.before != end.digest || frame.count == 0 {
            return Err(LogError::Gap { first: frame.first, last: end.sequence });
        }
        let written = self.file.write_all_at(&frame.encode(), end.offset);
        written.and_then(|()| self.file.sync_data()).map_err(|error| self.disk(error))?;
        self.mark(frame);
        Ok(())
    }

    /// Whether a log that reaches to here is a beginning of this one.
    pub fn has(&self, position: &Position) -> bool {
        let found = self.marks.binary_search_by_key(&position.sequence, |mark| mark.sequence);
        position.history == self.history && found.is_ok_and(|at| self.marks[at].digest == position.digest)
    }

    /// The frame that holds the entry after this one.
    pub fn after(&self, sequence: u64) -> Result<Option<Frame>, LogError> {
        let next = self.marks.partition_point(|mark| mark.sequence <= sequence);
        let (Some(mark), Some(before)) = (self.marks.get(next), next.checked_sub(1)) else {
            return Ok(None);
        };
        let start = self.marks[before].offset;
        let mut bytes = vec![0; usize::try_from(mark.offset - start).unwrap_or_default()];
        self.file.read_exact_at(&mut bytes, start).map_err(|error| self.disk(error))?;
        let damaged = |_| LogError::Damaged { path: self.path.clone(), offset: start };
        Frame::decode(&bytes).map(Some).map_err(damaged)
    }

    fn end(&self) -> Mark {
        let nothing = Mark { sequence: 0, offset: BEGINNING as u64, digest: self.history.root() };
        self.marks.last().copied().unwrap_or(nothing)
    }

    fn mark(&mut self, frame: &Frame) {
        let offset = self.end().offset + frame.encode().len() as u64;
        self.marks.push(Mark { sequence: frame.last(), offset, digest: frame.digest });
    }

    fn disk(&self, error: io::Error) -> LogError {
        LogError::Disk(self.path.clone(), error)
    }
}

/// Reads until the buffer is full or the file ends.
fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests;
