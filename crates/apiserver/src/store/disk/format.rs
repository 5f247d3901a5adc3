//! The bytes on disk: a segment is a header and frames, a frame is one batch of records, a record is one change.
//!
//! All numbers are little-endian. A frame's checksum covers where it is, so that no frame is taken for another.

use super::checksum::checksum;
use crate::store::{Key, Revision};

/// The format that this version writes and reads.
pub(super) const FORMAT: u32 = 1;
/// Magic, format, number, checksum.
pub(super) const HEADER_BYTES: usize = 24;
/// Magic, length, checksum.
pub(super) const FRAME_HEADER_BYTES: usize = 12;
/// The largest frame: a full batch with its largest last object, and four times as much that is moved (see `clean`).
pub(super) const MAX_FRAME_BYTES: usize = 16 << 20;

const HEADER_MAGIC: [u8; 8] = *b"MUSTER\xFF\x01";
/// No text in JSON holds these bytes.
pub(super) const FRAME_MAGIC: [u8; 4] = *b"\xFFMF\xFE";
/// Kind, revision, and the lengths of resource, namespace, name and text.
const RECORD_HEADER_BYTES: usize = 1 + 8 + 4 * 4;
const PUT: u8 = 1;
const REMOVE: u8 = 2;

/// Why a header cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadHeader {
    Unknown(u32),
    Damaged,
}

/// The first bytes of the segment with this number.
pub(super) fn header(number: u64) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&HEADER_MAGIC);
    bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[12..20].copy_from_slice(&number.to_le_bytes());
    let sum = checksum(&[&bytes[..20]]);
    bytes[20..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Whether these are the first bytes of the segment with this number.
pub(super) fn check_header(bytes: &[u8; HEADER_BYTES], number: u64) -> Result<(), BadHeader> {
    let expected = header(number);
    if bytes[..8] != expected[..8] {
        return Err(BadHeader::Damaged);
    }
    match Reader(&bytes[8..]).u32() {
        Some(FORMAT) if *bytes == expected => Ok(()),
        Some(FORMAT) | None => Err(BadHeader::Damaged),
        Some(other) => Err(BadHeader::Unknown(other)),
    }
}

/// Begins a frame in this buffer; records follow, then `seal_frame`.
pub(super) fn begin_frame(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(FRAME_HEADER_BYTES, 0);
}

/// Completes the frame for its place.
pub(super) fn seal_frame(buffer: &mut [u8], segment: u64, at: u64) {
    let (header, payload) = buffer.split_at_mut(FRAME_HEADER_BYTES);
    header[..4].copy_from_slice(&FRAME_MAGIC);
    header[4..8].copy_from_slice(&length(payload.len()).to_le_bytes());
    header[8..].copy_from_slice(&frame_sum(segment, at, payload).to_le_bytes());
}

/// The length and the checksum that a frame's header says, if it is one.
pub(super) fn frame_header(bytes: [u8; FRAME_HEADER_BYTES]) -> Option<(usize, u32)> {
    let mut rest = Reader(&bytes);
    let magic = rest.take(4)?;
    let length = usize::try_from(rest.u32()?).ok()?;
    let sum = rest.u32()?;
    (magic == FRAME_MAGIC && (1..=MAX_FRAME_BYTES).contains(&length)).then_some((length, sum))
}

pub(super) fn frame_sum(segment: u64, at: u64, payload: &[u8]) -> u32 {
    checksum(&[&segment.to_le_bytes(), &at.to_le_bytes(), payload])
}

/// One change, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) revision: Revision,
    pub(super) resource: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The object; none when it is gone.
    pub(super) text: Option<&'a [u8]>,
}

impl<'a> Record<'a> {
    pub(super) fn new(key: &'a Key, revision: Revision, text: Option<&'a [u8]>) -> Self {
        Self { revision, resource: &key.resource, namespace: &key.namespace, name: &key.name, text }
    }

    /// The bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let names = self.resource.len() + self.namespace.len() + self.name.len();
        RECORD_HEADER_BYTES + names + self.text.map_or(0, <[u8]>::len)
    }

    pub(super) fn encode(&self, buffer: &mut Vec<u8>) {
        buffer.push(if self.text.is_some() { PUT } else { REMOVE });
        buffer.extend_from_slice(&self.revision.to_le_bytes());
        let parts = [self.resource.as_bytes(), self.namespace.as_bytes(), self.name.as_bytes()];
        let text = self.text.unwrap_or_default();
        for part in parts.into_iter().chain([text]) {
            buffer.extend_from_slice(&length(part.len()).to_le_bytes());
        }
        for part in parts.into_iter().chain([text]) {
            buffer.extend_from_slice(part);
        }
    }

    /// Takes the first record from these bytes.
    pub(super) fn decode(bytes: &mut &'a [u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        let kind = *rest.take(1)?.first()?;
        let revision = rest.u64()?;
        let mut lengths = [0; 4];
        for length in &mut lengths {
            *length = usize::try_from(rest.u32()?).ok()?;
        }
        let resource = std::str::from_utf8(rest.take(lengths[0])?).ok()?;
        let namespace = std::str::from_utf8(rest.take(lengths[1])?).ok()?;
        let name = std::str::from_utf8(rest.take(lengths[2])?).ok()?;
        let text = rest.take(lengths[3])?;
        let text = match kind {
            PUT => Some(text),
            REMOVE if text.is_empty() => None,
            _ => return None,
        };
        *bytes = rest.0;
        Some(Self { revision, resource, namespace, name, text })
    }
}

/// Everything written is far below 4 GiB: objects are bounded, and so are frames.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}
