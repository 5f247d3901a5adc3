//! The texts inside of JSON: their escapes, and what is in them that is no text.

use std::char::{REPLACEMENT_CHARACTER, decode_utf16};

/// A text without its escapes, which are known to be right. A byte that is no text is U+FFFD, as is half a pair of UTF-16.
pub(super) fn unescaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        push_bytes(&rest[..at], &mut out);
        let after = &rest[at + 1..];
        let length = match after.first() {
            Some(b'u') => push_units(after, &mut out),
            other => {
                out.push(match other {
                    Some(b'b') => '\u{8}',
                    Some(b'f') => '\u{c}',
                    Some(b'n') => '\n',
                    Some(b'r') => '\r',
                    Some(b't') => '\t',
                    Some(other) => char::from(*other),
                    None => REPLACEMENT_CHARACTER,
                });
                1
            }
        };
        rest = after.get(length..).unwrap_or_default();
    }
    push_bytes(rest, &mut out);
    out
}

fn push_bytes(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| REPLACEMENT_CHARACTER));
    }
}

/// Adds what `uXXXX` stands for, and the other half of it if that follows. Gives how many bytes that was.
fn push_units(text: &[u8], out: &mut String) -> usize {
    let first = unit(text).unwrap_or_default();
    let second = text.get(5..).filter(|next| next.first() == Some(&b'\\')).and_then(|next| unit(&next[1..]));
    let mut characters = decode_utf16([first].into_iter().chain(second));
    let character = characters.next().unwrap_or(Ok(REPLACEMENT_CHARACTER));
    // Both halves made one character when nothing is left of them.
    let took_both = second.is_some() && characters.next().is_none();
    out.push(character.unwrap_or(REPLACEMENT_CHARACTER));
    if took_both { 11 } else { 5 }
}

/// The number after an `u`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A byte between quotes, as Go shows one of a text that it does not understand.
pub(super) fn quoted_byte(byte: u8) -> String {
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'\\' => "\\\\".to_owned(),
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        0..0x20 | 0x7f => format!("\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => format!("\\u{byte:04x}"),
        _ => char::from(byte).to_string(),
    };
    format!("'{shown}'")
}
