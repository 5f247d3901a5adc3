//! The syntax of label keys, label values and object names, as the API server has it.

/// Longest name part of a label key, and longest label value.
const NAME_MAX: usize = 63;
/// Longest prefix of a label key, and longest name of an object.
const SUBDOMAIN_MAX: usize = 253;

/// What is wrong with a label key: `[prefix/]name`.
pub(super) fn key(text: &str) -> Option<&'static str> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if prefix.is_some_and(|prefix| subdomain(prefix).is_some()) {
        return Some(
            "the part before the slash must be a DNS name of lower-case letters, digits, dashes and dots",
        );
    }
    if name.is_empty() || name.len() > NAME_MAX || !enclosed(name, b"-_.") {
        return Some(
            "must be at most 63 letters, digits, dashes, underscores and dots, starting and ending with a letter or digit",
        );
    }
    None
}

/// What is wrong with a label value; the empty value is right.
pub(super) fn value(text: &str) -> Option<&'static str> {
    if text.is_empty() || (text.len() <= NAME_MAX && enclosed(text, b"-_.")) {
        return None;
    }
    Some(
        "must be at most 63 letters, digits, dashes, underscores and dots, starting and ending with a letter or digit, or empty",
    )
}

/// What is wrong with the name of an object such as a Node.
pub(super) fn subdomain(text: &str) -> Option<&'static str> {
    let label = |part: &str| enclosed(part, b"-") && !part.bytes().any(|b| b.is_ascii_uppercase());
    if text.len() <= SUBDOMAIN_MAX && text.split('.').all(label) {
        return None;
    }
    Some("must be a DNS name of at most 253 lower-case letters, digits, dashes and dots")
}

/// Starts and ends with a letter or digit, with nothing but those and `inner` between; never empty.
fn enclosed(text: &str, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    outer(bytes.first())
        && outer(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || inner.contains(byte))
}
