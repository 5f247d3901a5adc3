//! The file of what is remembered: one line that says what follows, then JSON, then nothing but newlines up to a fixed size.
//!
//! ```text
//! muster-agent-state 1 734 5f0c…e1\n{"volume":…}\n\n\n…
//! ```
//!
//! The number is the format's, then come the length of the JSON and its SHA-256. Whatever is not exactly so was not written by an agent, or not
//! to the end, or has changed since: nothing in it is believed.

use ring::digest::{SHA256, digest};

use super::Memory;

/// The first word of the file.
const MAGIC: &str = "muster-agent-state";
/// The format that this agent writes, and the only one it reads.
const FORMAT: &str = "1";
/// The longest first line.
const HEAD_MAX: usize = 160;

/// Why a file tells nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is torn, or has changed.
    #[error("what the agent remembered is damaged: {0}")]
    Damaged(&'static str),
    /// Another agent wrote it, whose format is not known. It is left as it is.
    #[error("what the agent remembered has format {0}, which this agent does not know")]
    OtherFormat(String),
}

/// The file's content, filled up to this size.
pub fn write(memory: &Memory, size: usize) -> Result<Vec<u8>, serde_json::Error> {
    let json = serde_json::to_vec(memory)?;
    let mut file = format!("{MAGIC} {FORMAT} {} {}\n", json.len(), checksum(&json)).into_bytes();
    file.extend(json);
    file.resize(size.max(file.len() + 1), b'\n');
    Ok(file)
}

/// What the file's content says.
pub fn read(file: &[u8]) -> Result<Memory, Unreadable> {
    let damaged = Unreadable::Damaged;
    let head = file.iter().take(HEAD_MAX).position(|byte| *byte == b'\n');
    let (head, rest) = file.split_at_checked(head.unwrap_or(file.len())).unwrap_or_default();
    let head = std::str::from_utf8(head).map_err(|_| damaged("its first line is no text"))?;
    let mut words = head.split(' ');
    if words.next() != Some(MAGIC) {
        return Err(damaged("it does not begin as it must"));
    }
    let format = words.next().unwrap_or_default();
    if format != FORMAT {
        let is_one = !format.is_empty() && format.bytes().all(|byte| byte.is_ascii_digit());
        return Err(if is_one {
            Unreadable::OtherFormat(format.to_owned())
        } else {
            damaged("its format cannot be told")
        });
    }
    let length = words.next().and_then(|length| length.parse::<usize>().ok());
    let sum = words.next().filter(|_| words.next().is_none());
    let (Some(length), Some(sum)) = (length, sum) else { return Err(damaged("its first line is cut")) };
    let json = rest.get(1..).and_then(|rest| rest.split_at_checked(length));
    let (json, filling) = json.ok_or_else(|| damaged("it is cut"))?;
    if checksum(json) != sum {
        return Err(damaged("its checksum differs"));
    }
    if filling.is_empty() || filling.iter().any(|byte| *byte != b'\n') {
        return Err(damaged("something follows its end"));
    }
    serde_json::from_slice(json).map_err(|_| damaged("it says what no agent of this format says"))
}

fn checksum(json: &[u8]) -> String {
    crate::hex(digest(&SHA256, json).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory { epoch: 7, complete: true, recorded: vec![3], ..Memory::new("v".into()) }
    }

    #[test]
    fn what_was_written_is_read() {
        let file = write(&memory(), 1024).unwrap();
        assert_eq!(file.len(), 1024);
        assert_eq!(read(&file), Ok(memory()));
        assert_eq!(read(&write(&memory(), 0).unwrap()), Ok(memory()), "also where there is more than fits");
    }

    #[test]
    fn a_file_cut_anywhere_within_what_it_says_tells_nothing() {
        let file = write(&memory(), 1024).unwrap();
        let end = file.iter().rposition(|byte| *byte != b'\n').unwrap() + 1;
        for cut in 0..=end {
            assert!(matches!(read(&file[..cut]), Err(Unreadable::Damaged(_))), "cut at {cut}");
        }
    }

    #[test]
    fn a_file_with_any_byte_changed_tells_nothing() {
        let file = write(&memory(), 512).unwrap();
        for at in 0..file.len() {
            for flip in [1, 0x80] {
                let mut changed = file.clone();
                changed[at] ^= flip;
                assert!(read(&changed).is_err(), "byte {at} ^ {flip}");
            }
        }
    }

    #[test]
    fn a_torn_overwrite_tells_nothing() {
        let old = write(&memory(), 512).unwrap();
        let new = write(&Memory { epoch: 8, left: true, ..memory() }, 512).unwrap();
        let end = new.iter().rposition(|byte| *byte != b'\n').unwrap() + 1;
        for torn in 1..end {
            let mixed = [&new[..torn], &old[torn..]].concat();
            if mixed != old && mixed != new {
                assert!(read(&mixed).is_err(), "torn at {torn}");
            }
        }
    }

    #[test]
    fn another_format_is_told_from_damage() {
        let file = String::from_utf8(write(&memory(), 512).unwrap()).unwrap();
        let other = file.replacen("state 1 ", "state 2 ", 1);
        assert_eq!(read(other.as_bytes()), Err(Unreadable::OtherFormat("2".into())));
    }
}
