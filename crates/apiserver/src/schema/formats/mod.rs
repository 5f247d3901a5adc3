//! The formats of texts that the server checks; all others it ignores.

mod codes;
mod email;
mod net;
mod time;
mod uri;

pub(crate) use time::{nanoseconds, rfc3339};

/// Longest name with and without dots.
const MAX_SHORT_NAME: usize = 63;
const MAX_LONG_NAME: usize = 253;

const KNOWN: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Whether texts with this format are checked. Dashes in its name do not count.
pub(crate) fn is_known(format: &str) -> bool {
    KNOWN.contains(&format.replace('-', "").as_str())
}

/// Whether a text has a format.
pub(crate) fn is_valid(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "bsonobjectid" => text.len() == 24 && text.chars().all(|c| c.is_ascii_hexdigit()),
        "uri" => uri::is_request_uri(text),
        "email" => email::is_email(text),
        "hostname" => net::is_hostname(text),
        "ipv4" => net::is_ipv4(text),
        "ipv6" => net::is_ipv6(text),
        "cidr" => net::is_cidr(text),
        "mac" => net::is_mac(text),
        "uuid" => codes::is_uuid(text, None),
        "uuid3" => codes::is_uuid(text, Some('3')),
        "uuid4" => codes::is_uuid(text, Some('4')),
        "uuid5" => codes::is_uuid(text, Some('5')),
        "isbn" => codes::is_isbn10(text) || codes::is_isbn13(text),
        "isbn10" => codes::is_isbn10(text),
        "isbn13" => codes::is_isbn13(text),
        "creditcard" => codes::is_credit_card(text),
        "ssn" => codes::is_ssn(text),
        "hexcolor" => codes::is_hex_color(text),
        "rgbcolor" => codes::is_rgb_color(text),
        "byte" => codes::is_base64(text),
        "date" => time::is_date(text),
        "duration" => time::nanoseconds(text).is_some(),
        "datetime" => time::is_date_time(text),
        "k8sshortname" => text.len() <= MAX_SHORT_NAME && is_label(text),
        "k8slongname" => text.len() <= MAX_LONG_NAME && text.split('.').all(is_label),
        _ => true,
    }
}

fn is_label(text: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(is_alphanumeric)
        && text.ends_with(is_alphanumeric)
        && text.chars().all(|c| is_alphanumeric(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids() {
        for (format, good, bad) in [
            ("k8s-short-name", "a-1", "a.b"),
            ("k8s-long-name", "a.b-c", "a..b"),
            ("bsonobjectid", "0123456789abcdef01234567", "0123"),
            ("date-time", "2020-01-02T03:04:05Z", "2020-01-02 03:04:05Z"),
        ] {
            assert!(is_known(format));
            assert!(is_valid(format, good), "{format} {good}");
            assert!(!is_valid(format, bad), "{format} {bad}");
        }
        assert!(!is_known("int32"));
        assert!(is_valid("password", ""));
    }
}
