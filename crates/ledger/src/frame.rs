//! A frame: what is written, synced and shipped at once. Each names the digest of the one before it, so that two logs which
//! agree on one frame agree on all before it.
//!
//! ```text
//! magic 4 │ body's length 4 │ entries 4 │ first sequence 8 │ digest before 32 │ digest 32 │ body: (length 4 │ bytes)*
//! ```
//! Numbers are little-endian. A digest is SHA-256 over all of the frame but its magic and itself.

use ring::digest::{Context, SHA256};

/// The largest entry: a line that a person might type, with room to spare.
pub const MAX_ENTRY: usize = 64 * 1024;
/// The largest body of a frame: what a commit takes at most, and what a follower must be able to hold in memory.
pub const MAX_BODY: usize = 1024 * 1024;
/// How long a frame is before its body.
pub const HEADER: usize = 84;

const MAGIC: [u8; 4] = *b"mlfr";

/// The digest of a frame; what stands before the first is made of the history.
pub type Digest = [u8; 32];

/// Bytes as hexadecimal digits, for lines and for people.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// They end too soon.
    #[error("a frame ends too soon")]
    Short,
    /// They do not begin like one, or do not match their digest.
    #[error("a frame is damaged")]
    Damaged,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The sequence of its first entry.
    pub first: u64,
    /// How many entries it has. None: it only says how far its sender is.
    pub count: u32,
    /// The digest of the frame before it.
    pub before: Digest,
    /// Its own.
    pub digest: Digest,
    body: Vec<u8>,
}

/// What a frame says of itself before its body.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// How long its body is.
    pub body: usize,
    /// How many entries it has.
    pub count: u32,
    /// The sequence of its first entry.
    pub first: u64,
    /// The digest of the frame before it.
    pub before: Digest,
    /// Its own.
    pub digest: Digest,
}

impl Frame {
    /// A frame of these entries; at most [`MAX_BODY`] bytes of them, which [`Frame::fits`] tells.
    pub fn new<E: AsRef<[u8]>>(first: u64, before: Digest, entries: &[E]) -> Self {
        let mut body = Vec::new();
        for entry in entries {
            let entry = entry.as_ref();
            body.extend_from_slice(&number(entry.len()).to_le_bytes());
            body.extend_from_slice(entry);
        }
        let count = number(entries.len());
        let digest = digest(number(body.len()), count, first, &before, &body);
        Self { first, count, before, digest, body }
    }

    /// How much of a body an entry takes.
    pub const fn weight(entry: &[u8]) -> usize {
        4 + entry.len()
    }

    /// The sequence of its last entry, or the one before its first where it has none.
    pub fn last(&self) -> u64 {
        self.first + u64::from(self.count) - 1
    }

    /// Its entries.
    pub fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.body[..];
        std::iter::from_fn(move || {
            let (length, after) = rest.split_at_checked(4)?;
            let (entry, after) = after.split_at_checked(le32(length) as usize)?;
            rest = after;
            Some(entry)
        })
    }

    /// It as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.body.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&number(self.body.len()).to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(&self.before);
        bytes.extend_from_slice(&self.digest);
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// How long the body is of a frame that begins like this.
    pub fn body_length(header: &[u8; HEADER]) -> Result<usize, FrameError> {
        let length = le32(&header[4..8]) as usize;
        if header[..4] != MAGIC || length > MAX_BODY {
            return Err(FrameError::Damaged);
        }
        Ok(length)
    }

    /// What these bytes say of the frame that they begin; whether that is true only its body tells.
    pub fn header(bytes: &[u8; HEADER]) -> Result<Header, FrameError> {
        Ok(Header {
            body: Self::body_length(bytes)?,
            count: le32(&bytes[8..12]),
            first: le64(&bytes[12..20]),
            before: chunk(&bytes[20..52]),
            digest: chunk(&bytes[52..84]),
        })
    }

    /// The frame at the beginning of these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(FrameError::Short)?;
        let Header { body, count, first, before, digest: own } = Self::header(header)?;
        let body = rest.get(..body).ok_or(FrameError::Short)?;
        let frame = Self { first, count, before, digest: own, body: body.to_vec() };
        let wanted = digest(number(body.len()), count, first, &before, body);
        let whole = first > 0 && frame.entries().count() == count as usize;
        if wanted != own || !whole {
            return Err(FrameError::Damaged);
        }
        Ok(frame)
    }
}

/// A length as frames have it: bounded far below by the limits above.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn digest(length: u32, count: u32, first: u64, before: &Digest, body: &[u8]) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(&length.to_le_bytes());
    context.update(&count.to_le_bytes());
    context.update(&first.to_le_bytes());
    context.update(before);
    context.update(body);
    chunk(context.finish().as_ref())
}

fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(chunk(bytes))
}

fn le64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(chunk(bytes))
}

/// The first bytes, or zeros where there are too few, which no caller has.
fn chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk::<N>().copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_was_written(
            first in 1..u64::MAX / 2,
            entries in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
        ) {
            let frame = Frame::new(first, [7; 32], &entries);
            let read = Frame::decode(&frame.encode()).unwrap();
            prop_assert_eq!(&read, &frame);
            prop_assert_eq!(read.entries().map(<[u8]>::to_vec).collect::<Vec<_>>(), entries);
        }

        #[test]
        fn a_changed_byte_is_seen(at in 0usize..100, by in 1u8..) {
            let mut bytes = Frame::new(5, [7; 32], &["an entry".as_bytes(), b"another"]).encode();
            let at = at % bytes.len();
            bytes[at] ^= by;
            prop_assert!(Frame::decode(&bytes).is_err());
        }
    }

    #[test]
    fn a_frame_cut_anywhere_is_too_short() {
        let bytes = Frame::new(1, [0; 32], &["hello"]).encode();
        for length in 0..bytes.len() {
            assert_eq!(Frame::decode(&bytes[..length]), Err(FrameError::Short), "{length}");
        }
    }
}
