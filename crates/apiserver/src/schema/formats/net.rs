//! Formats of addresses and hosts.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// Longest host name, and longest label of one.
const MAX_HOSTNAME: usize = 255;
const MAX_LABEL: usize = 63;

/// Letters of any script, digits and symbols, in labels; the last label of several has letters only.
static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let any = r"[a-zA-Z0-9\p{S}\p{L}]";
    let inner = r"[a-zA-Z0-9\-\p{S}\p{L}]";
    let one = format!("{any}(?:-?{any}{{0,62}})?");
    let several = format!(r"(?:{any}(?:{inner}{{0,61}}{any})?\.)+[a-zA-Z\p{{L}}]{{2,63}}");
    Regex::new(&format!("^(?:{one}|{several})$")).ok()
});

pub(super) fn is_hostname(text: &str) -> bool {
    HOSTNAME.as_ref().is_some_and(|regex| regex.is_match(text))
        && text.len() <= MAX_HOSTNAME
        && text.split('.').all(|label| label.len() <= MAX_LABEL)
}

/// Four numbers, with as many leading zeros as one likes.
fn sloppy_ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next().filter(|part| part.chars().all(|c| c.is_ascii_digit()))?;
        *octet = part.parse().ok()?;
    }
    parts.next().is_none().then(|| octets.into())
}

fn sloppy_ipv6(text: &str) -> Option<Ipv6Addr> {
    match text.rsplit_once(':') {
        Some((head, tail)) if tail.contains('.') => format!("{head}:{}", sloppy_ipv4(tail)?).parse().ok(),
        _ => text.parse().ok(),
    }
}

pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && (sloppy_ipv4(text).is_some() || sloppy_ipv6(text).is_some())
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let length = Some(length)
        .filter(|length| !length.is_empty() && length.chars().all(|c| c.is_ascii_digit()))
        .and_then(|length| length.parse::<u32>().ok());
    let max = if sloppy_ipv4(address).is_some() {
        32
    } else if sloppy_ipv6(address).is_some() {
        128
    } else {
        return false;
    };
    length.is_some_and(|length| length <= max)
}

/// 6, 8 or 20 bytes, in pairs with colons or dashes, in fours with dots, or all together.
pub(super) fn is_mac(text: &str) -> bool {
    let (separator, digits) = match text.chars().find(|c| !c.is_ascii_hexdigit()) {
        None => return matches!(text.len(), 12 | 16 | 40),
        Some(c @ (':' | '-')) => (c, 2),
        Some('.') => ('.', 4),
        _ => return false,
    };
    let groups: Vec<_> = text.split(separator).collect();
    let is_group = |group: &&str| group.len() == digits && group.chars().all(|c| c.is_ascii_hexdigit());
    matches!(groups.len() * digits / 2, 6 | 8 | 20) && groups.iter().all(is_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert!(is_ipv4("127.0.0.1") && is_ipv4("010.000.000.001") && !is_ipv4("1.2.3") && !is_ipv4("::1"));
        assert!(is_ipv6("::1") && !is_ipv6("1.2.3.4") && !is_ipv6("fe80::1%eth0"));
        assert!(
            is_cidr("10.0.0.0/8") && is_cidr("::/128") && !is_cidr("10.0.0.0/33") && !is_cidr("10.0.0.0")
        );
        assert!(
            is_mac("01:23:45:67:89:ab")
                && is_mac("0123.4567.89ab")
                && is_mac("0123456789ab")
                && !is_mac("01:23:45:67:89")
        );
    }

    #[test]
    fn hosts() {
        assert!(is_hostname("a") && is_hostname("a-b.example.com") && is_hostname("bücher.de"));
        assert!(!is_hostname("") && !is_hostname("a_b") && !is_hostname("a.1") && !is_hostname("-a.com"));
    }
}
