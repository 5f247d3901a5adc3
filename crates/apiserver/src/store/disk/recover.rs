//! Reading the log back after it was closed, killed, or lost its power.
//!
//! Only the last batch can be half written: the one before was synced first. So in the last segment the log ends where
//! no whole frame follows. Anything else that is not whole was whole once, and is damage, which is said and never
//! skipped.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::directory::Directory;
use super::format::{
    BadHeader, FORMAT, FRAME_HEADER_BYTES, FRAME_MAGIC, HEADER_BYTES, Record, check_header, frame_header,
    frame_sum,
};
use super::log::Segment;
use crate::store::{Document, FIRST_REVISION, Key, OpenError, Revision, Stored};

/// The end of a file that was not closed is mostly zeros, which are skipped in pieces of this size.
static ZEROS: [u8; 4096] = [0; 4096];

/// What the log says.
pub(super) struct Recovered {
    pub(super) objects: BTreeMap<Arc<Key>, Stored>,
    pub(super) revision: Revision,
    pub(super) segments: VecDeque<Segment>,
    /// The resources, each kept once.
    resources: BTreeSet<Arc<str>>,
}

/// Reads all segments.
pub(super) fn recover(directory: &Directory) -> Result<Recovered, OpenError> {
    let numbers = directory.segments().map_err(OpenError::io(directory.path()))?;
    let mut recovered = Recovered {
        objects: BTreeMap::new(),
        revision: FIRST_REVISION,
        segments: VecDeque::new(),
        resources: BTreeSet::new(),
    };
    for (index, number) in numbers.iter().copied().enumerate() {
        let path = directory.segment(number);
        if index > 0 && numbers[index - 1] + 1 != number {
            return Err(OpenError::Damaged { path, at: 0, what: "the segment before it is missing" });
        }
        let bytes = recovered.read_segment(&path, number, index + 1 == numbers.len())?;
        recovered.segments.push_back(Segment { number, bytes });
    }
    Ok(recovered)
}

impl Recovered {
    /// Reads one segment; gives the end of its frames.
    fn read_segment(&mut self, path: &Path, number: u64, is_last: bool) -> Result<u64, OpenError> {
        let io = || OpenError::io(path);
        let damaged = |at, what| OpenError::Damaged { path: path.to_owned(), at, what };
        let mut file = BufReader::new(File::open(path).map_err(io())?);
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header).map_err(|_| damaged(0, "its header is cut off"))?;
        check_header(&header, number).map_err(|bad| match bad {
            BadHeader::Damaged => damaged(0, "its header is not whole, or of another segment"),
            BadHeader::Unknown(found) => OpenError::Format { path: path.to_owned(), found, known: FORMAT },
        })?;
        let mut at = HEADER_BYTES as u64;
        while let Some(records) = read_frame(&mut file, number, at).map_err(io())? {
            self.take(&records).ok_or_else(|| damaged(at, "a record is not whole"))?;
            at += (FRAME_HEADER_BYTES + records.len()) as u64;
        }
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(at)).map_err(io())?;
        file.read_to_end(&mut rest).map_err(io())?;
        while rest.ends_with(&ZEROS) {
            rest.truncate(rest.len() - ZEROS.len());
        }
        if !is_last && rest.iter().any(|byte| *byte != 0) {
            return Err(damaged(at, "a frame is not whole, and segments follow"));
        }
        if holds_frame(&rest, number, at) {
            return Err(damaged(at, "a frame is not whole, and frames follow"));
        }
        Ok(at)
    }

    /// Makes the changes of one frame.
    fn take(&mut self, mut records: &[u8]) -> Option<()> {
        while !records.is_empty() {
            let record = Record::decode(&mut records)?;
            let resource = self.resource(record.resource);
            let key = Key::new(&resource, record.namespace, record.name);
            self.revision = self.revision.max(record.revision);
            match record.text {
                Some(text) => {
                    let object = Document::from_text(Bytes::copy_from_slice(text));
                    self.objects.insert(Arc::new(key), Stored { object, revision: record.revision });
                }
                None => drop(self.objects.remove(&key)),
            }
        }
        Some(())
    }

    fn resource(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.resources.get(name) {
            return known.clone();
        }
        let resource: Arc<str> = Arc::from(name);
        self.resources.insert(resource.clone());
        resource
    }
}

/// The records of the frame at this place; none if there is no whole frame.
fn read_frame(file: &mut impl Read, segment: u64, at: u64) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; FRAME_HEADER_BYTES];
    if !fill(file, &mut header)? {
        return Ok(None);
    }
    let Some((length, sum)) = frame_header(header) else { return Ok(None) };
    let mut records = vec![0; length];
    let whole = fill(file, &mut records)? && frame_sum(segment, at, &records) == sum;
    Ok(whole.then_some(records))
}

/// Reads as many bytes as there is room for; false if there are fewer.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a whole frame begins anywhere in these bytes, which begin at this place.
fn holds_frame(bytes: &[u8], segment: u64, at: u64) -> bool {
    let starts = bytes.windows(FRAME_MAGIC.len()).enumerate().filter(|(_, window)| *window == FRAME_MAGIC);
    for (start, _) in starts {
        if matches!(read_frame(&mut &bytes[start..], segment, at + start as u64), Ok(Some(_))) {
            return true;
        }
    }
    false
}
