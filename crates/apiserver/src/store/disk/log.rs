//! The log that is written to: append a batch, sync it, begin a new segment when one is full.
//!
//! When the disk fails, the batch fails, and what it may have left behind is cut off before the next one. So the log
//! goes on when the disk does.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::clean::Cleaner;
use super::directory::{Directory, SegmentFile};
use super::format::{HEADER_BYTES, Record, begin_frame, seal_frame};
use super::recover::recover;
use crate::store::state::State;
use crate::store::{Change, ChangeKind, Key, OpenError, Revision};

/// How large a segment grows: small enough to be cleaned soon, large enough to be made rarely. In unit tests there are
/// many, and they are cleaned often.
const SEGMENT_BYTES: u64 = if cfg!(test) { 32 << 10 } else { 8 << 20 };
/// How far ahead the file is filled with zeros: a sync that does not change the length of the file is much faster.
const RESERVE_BYTES: u64 = if cfg!(test) { 4 << 10 } else { 1 << 20 };
/// What the log may take besides twice what is still true: below this, cleaning is not worth its work.
const SPARE_BYTES: u64 = if cfg!(test) { 128 << 10 } else { 32 << 20 };
/// The largest buffer that is kept for the next batch.
const BUFFER_BYTES: usize = 1 << 20;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// One segment, and how much of it is frames and header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) number: u64,
    pub(super) bytes: u64,
}

/// The log of a store.
pub(in crate::store) struct Log {
    pub(super) directory: Directory,
    /// All segments, the oldest first; the last is the one that is written to.
    pub(super) segments: VecDeque<Segment>,
    file: SegmentFile,
    /// The number of the last segment, and the end of what is safe in it.
    number: u64,
    at: u64,
    /// Up to where the file is filled with zeros.
    reserved: u64,
    /// Whether something unknown may follow what is safe.
    unclear: bool,
    /// The bytes of the records that are still true.
    live: u64,
    cleaner: Option<Cleaner>,
    buffer: Vec<u8>,
}

impl Log {
    /// The log of this directory, and what it says.
    pub(in crate::store) fn open(directory: Directory) -> Result<(Self, State), OpenError> {
        let io = |error| OpenError::io(directory.path())(error);
        let found = recover(&directory)?;
        let (file, last, segments) = if let Some(last) = found.segments.back().copied() {
            let file = directory.reopen(last.number).map_err(io)?;
            file.cut(last.bytes).map_err(io)?;
            (file, last, found.segments)
        } else {
            let first = Segment { number: 1, bytes: HEADER_BYTES as u64 };
            (directory.create(first.number).map_err(io)?, first, VecDeque::from([first]))
        };
        let kept = found.objects.iter();
        let live = kept
            .map(|(key, stored)| size(&Record::new(key, stored.revision, Some(stored.object.text()))))
            .sum();
        let log = Self {
            directory,
            segments,
            file,
            number: last.number,
            at: last.bytes,
            reserved: last.bytes,
            unclear: false,
            live,
            cleaner: None,
            buffer: Vec::new(),
        };
        Ok((log, State::new(found.objects, found.revision)))
    }

    /// Makes these changes safe, all or none. `is_kept` says whether the object of this key is still the one of this
    /// revision, these changes not counted.
    pub(in crate::store) fn append(
        &mut self,
        changes: &[Arc<Change>],
        is_kept: impl Fn(&Key, Revision) -> bool,
    ) -> io::Result<()> {
        if self.unclear {
            self.repair()?;
        }
        if self.at >= SEGMENT_BYTES {
            self.rotate()?;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        begin_frame(&mut buffer);
        let cleaned = self.clean(changes, &is_kept, &mut buffer);
        for change in changes {
            record_of(change).encode(&mut buffer);
        }
        seal_frame(&mut buffer, self.number, self.at);
        let written = self.write(&buffer);
        if buffer.capacity() <= BUFFER_BYTES {
            self.buffer = buffer;
        }
        if let Err(error) = written {
            // What was looked at and not moved need not be looked at again.
            self.cleaner = cleaned.filter(|cleaner| !cleaner.moved());
            return Err(error);
        }
        self.live = changes.iter().fold(self.live, |live, change| (live + after(change)) - before(change));
        // What cannot be removed now is removed later: it is only old.
        self.cleaner = cleaned.and_then(|cleaner| self.remove_cleaned(cleaner));
        Ok(())
    }

    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        let end = self.at + frame.len() as u64;
        self.unclear = true;
        if end > self.reserved {
            self.reserve(end)?;
        }
        self.file.write_at(frame, self.at)?;
        self.file.sync()?;
        self.unclear = false;
        self.at = end;
        if let Some(segment) = self.segments.back_mut() {
            segment.bytes = end;
        }
        Ok(())
    }

    /// Fills the file with zeros beyond this end.
    fn reserve(&mut self, end: u64) -> io::Result<()> {
        let until = end + RESERVE_BYTES;
        let mut at = end.max(self.reserved);
        while at < until {
            self.file.write_at(&ZEROS, at)?;
            at += ZEROS.len() as u64;
        }
        self.reserved = at;
        Ok(())
    }

    /// Cuts off what a failed batch may have left, and goes on in a new segment: the old file has seen an error.
    fn repair(&mut self) -> io::Result<()> {
        self.file.cut(self.at)?;
        self.reserved = self.at;
        self.rotate()?;
        self.unclear = false;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let segment = Segment { number: self.number + 1, bytes: HEADER_BYTES as u64 };
        let file = self.directory.create(segment.number)?;
        // The zeros at the end of the old one are of no more use; if they stay, they do no harm.
        let _ = self.file.cut(self.at);
        self.file = file;
        self.segments.push_back(segment);
        (self.number, self.at, self.reserved) = (segment.number, segment.bytes, segment.bytes);
        Ok(())
    }

    /// Whether so little of the log is still true that the oldest segment should go.
    pub(super) fn is_wasteful(&self) -> bool {
        let bytes: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
        self.segments.len() > 1 && bytes > 2 * self.live + SPARE_BYTES
    }

    /// Moves what is still true of the oldest segment into this frame, a part at a time.
    fn clean(
        &mut self,
        changes: &[Arc<Change>],
        is_kept: &dyn Fn(&Key, Revision) -> bool,
        frame: &mut Vec<u8>,
    ) -> Option<Cleaner> {
        let mut cleaner = match self.cleaner.take() {
            Some(cleaner) => cleaner,
            None if self.is_wasteful() => Cleaner::open(&self.directory, *self.segments.front()?)?,
            None => return None,
        };
        let bytes: usize = changes.iter().map(|change| record_of(change).bytes()).sum();
        cleaner.step(bytes, is_kept, frame);
        Some(cleaner)
    }

    /// Removes the segment of which nothing is needed any more; gives back a cleaner that is not done.
    fn remove_cleaned(&mut self, cleaner: Cleaner) -> Option<Cleaner> {
        if !cleaner.is_done() {
            return Some(cleaner);
        }
        if self.directory.remove(cleaner.number()).is_ok() {
            self.segments.pop_front();
            return None;
        }
        Some(cleaner)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.reserved > self.at || self.unclear {
            // So that the next start has no zeros to read. If it fails, they are read.
            let _ = self.file.cut(self.at);
        }
    }
}

fn record_of(change: &Change) -> Record<'_> {
    let text = (change.kind != ChangeKind::Deleted).then_some(change.object.text().as_ref());
    Record::new(&change.key, change.revision, text)
}

fn size(record: &Record<'_>) -> u64 {
    record.bytes() as u64
}

/// The bytes that a change adds to what is true.
fn after(change: &Change) -> u64 {
    if change.kind == ChangeKind::Deleted { 0 } else { size(&record_of(change)) }
}

/// The bytes that a change makes untrue.
fn before(change: &Change) -> u64 {
    change
        .previous
        .as_ref()
        .map_or(0, |stored| size(&Record::new(&change.key, stored.revision, Some(stored.object.text()))))
}
