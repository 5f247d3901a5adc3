//! IP addresses as the server reads them: also forms that are not written any more, which it then refuses or warns of.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::schema::{FieldError, Path};

/// An address, and whether it is written as it should be.
struct Read {
    address: IpAddr,
    has_leading_zeros: bool,
    is_mapped: bool,
}

fn read(text: &str) -> Option<Read> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(Read { address: address.into(), has_leading_zeros: false, is_mapped: false });
    }
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        let mapped = address.to_ipv4_mapped();
        let address = mapped.map_or(IpAddr::V6(address), IpAddr::V4);
        return Some(Read { address, has_leading_zeros: false, is_mapped: mapped.is_some() });
    }
    let bytes: Vec<u8> = text.split('.').map(read_byte).collect::<Option<_>>()?;
    let bytes: [u8; 4] = bytes.try_into().ok()?;
    Some(Read { address: Ipv4Addr::from(bytes).into(), has_leading_zeros: true, is_mapped: false })
}

fn read_byte(text: &str) -> Option<u8> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    match text.trim_start_matches('0') {
        "" => Some(0),
        digits => digits.parse().ok(),
    }
}

/// Whether it is an address of version 4, however it is written.
pub(super) fn is_v4(text: &str) -> bool {
    read(text).is_some_and(|read| read.address.is_ipv4())
}

/// An address: well-formed, but not necessarily in its one canonical form.
pub(super) fn check(path: &Path, text: &str, errors: &mut Vec<FieldError>) {
    let mut say = |detail: &str| errors.push(FieldError::invalid(path, text, detail));
    match read(text) {
        None => say("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        Some(read) if read.has_leading_zeros => say("must not have leading 0s"),
        Some(read) if read.is_mapped => say("must not be an IPv4-mapped IPv6 address"),
        Some(_) => {}
    }
}

/// As [`check`], and in canonical form.
pub(super) fn check_canonical(path: &Path, text: &str, errors: &mut Vec<FieldError>) {
    let before = errors.len();
    check(path, text, errors);
    if errors.len() > before {
        return;
    }
    let canonical = read(text).map(|read| read.address.to_string()).unwrap_or_default();
    if canonical != text {
        let detail = format!("must be in canonical form ({canonical:?})");
        errors.push(FieldError::invalid(path, text, detail));
    }
}

/// An address at which something can be reached from elsewhere.
pub(super) fn check_endpoint(path: &Path, text: &str, errors: &mut Vec<FieldError>) {
    let mut say = |detail: &str| errors.push(FieldError::invalid(path, text, detail));
    let Some(read) = read(text) else { return say("must be a valid IP address") };
    let address = read.address;
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(address) => {
            let [first, ..] = address.segments();
            (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
        }
    };
    if address.is_unspecified() {
        say(&format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        say("may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local {
        say("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_link_local_multicast {
        say("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// What is worth a warning about an address that is accepted.
pub(super) fn warning(path: &Path, text: &str) -> Option<String> {
    let read = read(text)?;
    let canonical = read.address.to_string();
    if read.has_leading_zeros || read.is_mapped {
        return Some(format!("{path}: non-standard IP address {text:?} is invalid: use {canonical:?}"));
    }
    (read.address.is_ipv6() && canonical != text).then(|| {
        format!("{path}: IPv6 address {text:?} should be in RFC 5952 canonical format ({canonical:?})")
    })
}
