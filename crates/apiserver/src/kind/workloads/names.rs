//! What names, labels, ports and paths must look like, and what is said of those that do not.

use std::net::IpAddr;

pub(super) use crate::kind::metadata::{
    label as dns_label, label_key, label_value, subdomain as dns_subdomain,
};
use crate::schema::{FieldError, Path};

/// Said of a number below 0.
pub(super) const NEGATIVE: &str = "must be greater than or equal to 0";
/// Said of a field that was changed and cannot be.
pub(super) const IMMUTABLE: &str = "field is immutable";

/// Longest key of a config map, in characters.
const MAX_CONFIG_KEY: usize = 253;
/// Longest name of a port, in characters.
const MAX_PORT_NAME: usize = 15;

const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
     'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

fn is_lower(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// What is wrong with the key of a config map or secret.
pub(super) fn config_key(key: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if key.len() > MAX_CONFIG_KEY {
        wrong.push(format!("must be no more than {MAX_CONFIG_KEY} characters"));
    }
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) {
        wrong.push(CONFIG_KEY.to_owned());
    }
    match key {
        "." => wrong.push("must not be '.'".to_owned()),
        ".." => wrong.push("must not be '..'".to_owned()),
        key if key.starts_with("..") => wrong.push("must not start with '..'".to_owned()),
        _ => {}
    }
    wrong
}

/// What is wrong with the name of a variable.
pub(super) fn variable(name: &str) -> Vec<String> {
    if name.chars().any(|c| !(' '..='~').contains(&c) || c == '=') {
        let wrong = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        return vec![wrong.to_owned()];
    }
    Vec::new()
}

/// What is wrong with the number of a port.
pub(super) fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65535)
}

/// What is wrong with a number that must be in a range.
pub(super) fn in_range(number: i64, least: i64, most: i64) -> Vec<String> {
    if (least..=most).contains(&number) {
        return Vec::new();
    }
    vec![format!("must be between {least} and {most}, inclusive")]
}

/// Whether there are more than there may be.
pub(super) fn is_more(count: usize, most: i64) -> bool {
    i64::try_from(count).is_ok_and(|count| count > most)
}

/// What is wrong with the name of a port.
pub(super) fn port_name(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut say = |text: &str| wrong.push(text.to_owned());
    if name.len() > MAX_PORT_NAME {
        say(&format!("must be no more than {MAX_PORT_NAME} characters"));
    }
    if name.is_empty() || !name.chars().all(|c| is_lower(c) || c == '-') {
        say("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        say("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        say("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        say("must not begin or end with a hyphen");
    }
    wrong
}

/// What is wrong with a range of addresses, such as `10.9.8.0/24`.
pub(super) fn range_of_addresses(text: &str) -> Option<&'static str> {
    const NONE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    let Some((address, length)) = text.split_once('/') else { return Some(NONE) };
    let plain = |number: &str| match number.trim_start_matches('0') {
        "" => "0".to_owned(),
        rest => rest.to_owned(),
    };
    // Zeros in front are understood, and refused all the same.
    let is_v4 = !address.contains(':');
    let stripped =
        if is_v4 { address.split('.').map(plain).collect::<Vec<_>>().join(".") } else { address.to_owned() };
    let is_number = !length.is_empty() && length.chars().all(|c| c.is_ascii_digit());
    let bits: u32 = if is_v4 { 32 } else { 128 };
    let prefix = length.parse::<u32>().ok().filter(|prefix| is_number && *prefix <= bits);
    let (Ok(found), Some(prefix)) = (stripped.parse::<IpAddr>(), prefix) else { return Some(NONE) };
    if stripped != address && address.split('.').any(str::is_empty) {
        return Some(NONE);
    }
    if stripped != address || plain(length) != length {
        return Some("must not have leading 0s in IP or prefix length");
    }
    let value = match found {
        IpAddr::V4(found) => u128::from(found.to_bits()) << 96,
        IpAddr::V6(found) if found.to_ipv4_mapped().is_some() => {
            return Some("must not have an IPv4-mapped IPv6 address");
        }
        IpAddr::V6(found) => found.to_bits(),
    };
    let is_beyond = value.checked_shl(prefix).is_some_and(|rest| rest != 0);
    is_beyond.then_some("must not have bits set beyond the prefix length")
}

/// Says everything that a rule finds wrong with a text.
pub(super) fn check(
    rule: impl Fn(&str) -> Vec<String>,
    text: &str,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    errors.extend(rule(text).into_iter().map(|wrong| FieldError::invalid(path, text, wrong)));
}

/// Says that a number is below 0, if it is.
pub(super) fn check_not_negative(number: Option<i64>, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(number) = number.filter(|number| *number < 0) {
        errors.push(FieldError::invalid(path, number, NEGATIVE));
    }
}

/// A value that is not one of those allowed.
pub(super) fn not_one_of(path: &Path, value: &str, allowed: &[&str]) -> FieldError {
    let allowed: Vec<String> = allowed.iter().map(|value| (*value).to_owned()).collect();
    FieldError::not_supported(path, value, &allowed)
}

/// Says that a text is not one of those allowed, if it is not.
pub(super) fn check_one_of(text: &str, allowed: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    if text.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !allowed.contains(&text) {
        errors.push(not_one_of(path, text, allowed));
    }
}

/// A path that leads down only: not to the root, and not out by `..`.
pub(super) fn check_path_down(target: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if target.starts_with('/') {
        errors.push(FieldError::invalid(path, target, "must be a relative path"));
    }
    check_no_way_up(target, path, errors);
}

/// A path without `..`.
pub(super) fn check_no_way_up(target: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if target.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid(path, target, "must not contain '..'"));
    }
}
