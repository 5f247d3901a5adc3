//! The forms that names, labels and the like must have, with what the server says of those that do not.

use std::borrow::Cow;

/// Longest DNS label, and longest name of a label or annotation, in bytes.
const MAX_LABEL: usize = 63;
/// Longest DNS subdomain, in bytes.
const MAX_SUBDOMAIN: usize = 253;

const DNS_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_1035_LABEL: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const LABEL_NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
     character";
const LABEL_NAME_EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];

/// What the name of an object must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Lower case letters, digits, dashes, dots: most kinds.
    Subdomain,
    /// As a subdomain, without dots, and shorter.
    Label,
    /// Whatever can stand in a path: RBAC kinds.
    PathSegment,
    /// An IP address.
    Address,
}

impl NameRule {
    /// What is wrong with a name, or with the beginning of one that is to be generated.
    pub fn check(self, name: &str, is_prefix: bool) -> Vec<String> {
        match self {
            Self::Subdomain => subdomain(&masked(name, is_prefix)),
            Self::Label => label(&masked(name, is_prefix)),
            Self::PathSegment => path_segment(name, is_prefix),
            Self::Address => address(name),
        }
    }
}

/// A beginning may end with a dash; the server hides it, and one character more.
fn masked(name: &str, is_prefix: bool) -> Cow<'_, str> {
    let kept = name.len().checked_sub(2).and_then(|length| name.get(..length));
    match kept {
        Some(kept) if is_prefix && name.ends_with('-') => format!("{kept}a").into(),
        _ => name.into(),
    }
}

/// What is wrong with a DNS subdomain.
pub fn subdomain(text: &str) -> Vec<String> {
    subdomain_in(text, "characters")
}

fn subdomain_in(text: &str, unit: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_SUBDOMAIN, unit);
    if !is_subdomain(text) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
             and end with an alphanumeric character";
        errors.push(pattern(rule, DNS_SUBDOMAIN, &["example.com"]));
    }
    errors
}

/// What is wrong with a DNS label.
pub fn label(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL, "characters");
    if !is_label(text) {
        let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
             an alphanumeric character";
        errors.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            pattern(rule, DNS_LABEL, &["my-name", "123-abc"])
        });
    }
    errors
}

/// What is wrong with a DNS label that begins with a letter.
pub fn label_1035(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL, "characters");
    if !(is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())) {
        let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, \
             and end with an alphanumeric character";
        errors.push(pattern(rule, DNS_1035_LABEL, &["my-name", "abc-123"]));
    }
    errors
}

/// What is wrong with a name that has to stand in a path.
pub fn path_segment(text: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let forbidden = ['/', '%'].into_iter().filter(|c| text.contains(*c));
    forbidden.map(|c| format!("may not contain '{c}'")).collect()
}

/// What is wrong with the key of a label, or with another name that may have a domain before it.
pub fn label_key(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        ["", name] => {
            errors.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            errors.extend(
                subdomain_in(prefix, "bytes").into_iter().map(|error| format!("prefix part {error}")),
            );
            name
        }
        _ => {
            let rule = pattern(LABEL_NAME_RULE, LABEL_NAME, &LABEL_NAME_EXAMPLES);
            let optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {rule} {optional}")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else {
        errors
            .extend(too_long(name, MAX_LABEL, "bytes").into_iter().map(|error| format!("name part {error}")));
    }
    if !is_label_name(name) {
        errors.push(format!("name part {}", pattern(LABEL_NAME_RULE, LABEL_NAME, &LABEL_NAME_EXAMPLES)));
    }
    errors
}

/// What is wrong with the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL, "bytes");
    if !text.is_empty() && !is_label_name(text) {
        let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
             end with an alphanumeric character";
        errors.push(pattern(rule, LABEL_VALUE, &["MyValue", "my_value", "12345"]));
    }
    errors
}

fn address(text: &str) -> Vec<String> {
    match text.parse::<std::net::IpAddr>() {
        Ok(_) => Vec::new(),
        Err(_) => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()],
    }
}

/// The server counts bytes, and calls them so in labels only.
fn too_long(text: &str, max: usize, unit: &str) -> Vec<String> {
    if text.len() > max { vec![format!("must be no more than {max} {unit}")] } else { Vec::new() }
}

/// A rule with examples and the pattern that stands behind it.
fn pattern(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{rule} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

fn is_label(text: &str) -> bool {
    framed(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), |c| c == '-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_label_name(text: &str) -> bool {
    framed(text, |c| c.is_ascii_alphanumeric(), |c| matches!(c, '-' | '_' | '.'))
}

/// Whether a text begins and ends with such characters, and has these or others in between.
fn framed(text: &str, outside: impl Fn(char) -> bool, inside: impl Fn(char) -> bool) -> bool {
    text.starts_with(&outside) && text.ends_with(&outside) && text.chars().all(|c| outside(c) || inside(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_subdomains_or_segments_of_a_path() {
        assert!(NameRule::Subdomain.check("a.b-c.1", false).is_empty());
        assert!(
            NameRule::Subdomain.check("a-", true).is_empty()
                && !NameRule::Subdomain.check("a-", false).is_empty()
        );
        assert_eq!(NameRule::Label.check("a.b", false), ["must not contain dots"]);
        assert_eq!(NameRule::PathSegment.check("a/%", false), ["may not contain '/'", "may not contain '%'"]);
        assert_eq!(NameRule::PathSegment.check("..", false), ["may not be '..'"]);
        assert!(NameRule::PathSegment.check("system:A b", false).is_empty());
        assert!(NameRule::Address.check("10.0.0.1", false).is_empty());
    }

    #[test]
    fn a_rule_is_said_with_examples_and_its_pattern() {
        assert_eq!(
            label("A"),
            [
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
              an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
        assert_eq!(subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
        assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
        assert!(!label_1035("1a").is_empty() && label_1035("a1").is_empty());
    }

    #[test]
    fn labels_have_keys_with_a_domain_and_values() {
        assert!(label_key("example.com/My_name").is_empty() && label_key("a").is_empty());
        assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
        assert_eq!(label_key("a/").len(), 2);
        assert!(label_key("a/b/c").concat().starts_with("a valid label key must consist"));
        assert!(
            label_value("").is_empty() && label_value("a.B_1").is_empty() && !label_value("-a").is_empty()
        );
    }
}
