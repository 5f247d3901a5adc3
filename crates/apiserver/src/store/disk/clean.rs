//! Cleaning: what is still true of the oldest segment is written again at the end of the log, then the segment goes.
//!
//! It rides along with the batches, a few times their size at once, so that no write waits long for it. A removal
//! in the oldest segment need not be kept: nothing older is left that it speaks of.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::directory::Directory;
use super::format::{FRAME_HEADER_BYTES, HEADER_BYTES, Record, frame_header, frame_sum};
use super::log::Segment;
use crate::store::{Key, Revision};

/// How many bytes are looked at for each byte written. With a log of which half is untrue, as it must be to be cleaned,
/// two would keep its size; with four it shrinks.
const STEP_FACTOR: usize = 4;
/// How many are looked at besides, so that small batches get somewhere.
const STEP_BYTES: usize = 64 << 10;

/// The oldest segment, and how far it is read.
pub(super) struct Cleaner {
    segment: Segment,
    file: File,
    at: u64,
    /// The records of one frame, and those of them that are done.
    records: Vec<u8>,
    done: usize,
    /// Whether the last step moved anything.
    moved: bool,
}

impl Cleaner {
    /// Begins with this segment. If it cannot be read it stays, and the store will say so when it is opened again.
    pub(super) fn open(directory: &Directory, segment: Segment) -> Option<Self> {
        let file = File::open(directory.segment(segment.number)).ok()?;
        Some(Self { segment, file, at: HEADER_BYTES as u64, records: Vec::new(), done: 0, moved: false })
    }

    pub(super) fn number(&self) -> u64 {
        self.segment.number
    }

    /// Whether all of it was looked at.
    pub(super) fn is_done(&self) -> bool {
        self.done == self.records.len() && self.at >= self.segment.bytes
    }

    /// Whether the last step moved anything.
    pub(super) fn moved(&self) -> bool {
        self.moved
    }

    /// Looks at some more records, in proportion to the bytes that are written anyway, and adds those that are still
    /// true to the frame.
    pub(super) fn step(
        &mut self,
        written: usize,
        is_kept: &dyn Fn(&Key, Revision) -> bool,
        frame: &mut Vec<u8>,
    ) {
        self.moved = false;
        let mut budget = written * STEP_FACTOR + STEP_BYTES;
        while budget > 0 && !self.is_done() {
            if self.done == self.records.len() && self.read_frame().is_err() {
                return;
            }
            let mut rest = &self.records[self.done..];
            let Some(record) = Record::decode(&mut rest) else { return };
            self.done = self.records.len() - rest.len();
            budget = budget.saturating_sub(record.bytes());
            let key = Key::new(&Arc::from(record.resource), record.namespace, record.name);
            if record.text.is_some() && is_kept(&key, record.revision) {
                record.encode(frame);
                self.moved = true;
            }
        }
    }

    fn read_frame(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut header = [0; FRAME_HEADER_BYTES];
        self.file.read_exact(&mut header)?;
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let (length, sum) = frame_header(header).ok_or_else(damaged)?;
        let mut records = vec![0; length];
        self.file.read_exact(&mut records)?;
        if frame_sum(self.segment.number, self.at, &records) != sum {
            return Err(damaged());
        }
        self.at += (FRAME_HEADER_BYTES + length) as u64;
        (self.records, self.done) = (records, 0);
        Ok(())
    }
}
