//! Bytes as lower-case hexadecimal digits.

use std::fmt::Write as _;

pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // a String takes whatever is written
        text
    })
}
