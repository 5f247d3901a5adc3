//! Until when a certificate is valid, read from the certificate itself.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The tags of DER that lead to the validity.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The moment after which this certificate (DER) is not valid any more; nothing if it cannot be read.
pub(super) fn ends(certificate: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = take(certificate, SEQUENCE)?;
    let (mut fields, _) = take(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        (_, fields) = take_any(fields)?;
    }
    for _serial_algorithm_issuer in 0..3 {
        (_, fields) = take_any(fields)?;
    }
    let (validity, _) = take(fields, SEQUENCE)?;
    let (_begins, rest) = take_any(validity)?;
    let tag = *rest.first()?;
    let (time, _) = take_any(rest)?;
    read_time(tag, std::str::from_utf8(time).ok()?)
}

/// `YYMMDDhhmmssZ` up to 2049, `YYYYMMDDhhmmssZ` from then on.
fn read_time(tag: u8, text: &str) -> Option<Timestamp> {
    let text = match tag {
        UTC_TIME => format!("{}{text}", if text.get(..2)? < "50" { "20" } else { "19" }),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", text).ok()?;
    TimeZone::UTC.to_timestamp(time).ok()
}

/// The content of the element that begins here, if it has this tag, and what follows it.
fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    if *der.first()? == tag { take_any(der) } else { None }
}

fn take_any(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = usize::from(*der.get(1)?);
    let (length, header) = if first < 0x80 {
        (first, 2)
    } else {
        let bytes = der.get(2..2 + (first & 0x7f))?;
        // Four bytes are more than any certificate is long.
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), 2 + bytes.len())
    };
    let end = header.checked_add(length)?;
    Some((der.get(header..end)?, der.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    fn ends_of(year: i32) -> Option<Timestamp> {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.not_after = date_time_ymd(year, 3, 9);
        let key = KeyPair::generate().unwrap();
        ends(parameters.self_signed(&key).unwrap().der())
    }

    #[test]
    fn the_end_is_read_in_both_forms_of_time() {
        assert_eq!(ends_of(2031), Some("2031-03-09T00:00:00Z".parse().unwrap()));
        assert_eq!(ends_of(2061), Some("2061-03-09T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let whole = parameters.self_signed(&key).unwrap().der().to_vec();
        for length in 0..whole.len() {
            assert_eq!(ends(&whole[..length]), None);
        }
        assert_eq!(ends(b"hello"), None);
    }
}
