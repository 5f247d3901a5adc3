//! From when until when a certificate is valid, read from the certificate itself.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The tags of DER that lead to the validity.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A span of time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) begins: Timestamp,
    pub(super) ends: Timestamp,
}

/// The validity of this certificate (DER); nothing if it cannot be read.
pub(super) fn read(certificate: &[u8]) -> Option<Validity> {
    let (certificate, _) = element(certificate, Some(SEQUENCE))?;
    let (mut fields, _) = element(certificate, Some(SEQUENCE))?;
    if fields.first() == Some(&VERSION) {
        (_, fields) = element(fields, None)?;
    }
    for _serial_algorithm_issuer in 0..3 {
        (_, fields) = element(fields, None)?;
    }
    let (validity, _) = element(fields, Some(SEQUENCE))?;
    let (begins, rest) = time(validity)?;
    let (ends, _) = time(rest)?;
    Some(Validity { begins, ends })
}

/// The time that begins here, `YYMMDDhhmmssZ` until 2049 and `YYYYMMDDhhmmssZ` from then on, and what follows it.
fn time(der: &[u8]) -> Option<(Timestamp, &[u8])> {
    let tag = *der.first()?;
    let (text, rest) = element(der, None)?;
    let text = std::str::from_utf8(text).ok()?;
    let text = match tag {
        UTC_TIME => format!("{}{text}", if text.get(..2)? < "50" { "20" } else { "19" }),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", text).ok()?;
    Some((TimeZone::UTC.to_timestamp(time).ok()?, rest))
}

/// The content of the element that begins here, if it has the wanted tag, and what follows it.
fn element(der: &[u8], wanted: Option<u8>) -> Option<(&[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    if wanted.is_some_and(|wanted| wanted != *tag) {
        return None;
    }
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        // Two bytes are more than any certificate of ours is long; four are more than any.
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length =
            (bytes.len() <= 4).then(|| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))?;
        (length, rest)
    };
    rest.split_at_checked(length)
}
