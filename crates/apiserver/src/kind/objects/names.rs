//! The forms that names, keys and values must have, and what is said of those that do not.

/// Longest DNS label, and longest name part of a label key.
const MAX_LABEL: usize = 63;
/// Longest DNS name.
const MAX_SUBDOMAIN: usize = 253;

const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORM: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character";

/// What is wrong, the form that is wanted, and examples of it.
fn form(words: &str, examples: &[&str], form: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{words} (e.g. {}regex used for validation is '{form}')", examples.join(" or "))
}

pub(crate) fn too_long(max: usize) -> String {
    format!("must be no more than {max} characters")
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| inner(*byte))
        && bytes.last().is_some_and(|byte| inner(*byte))
        && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// Whether a text is what the name part of a label key may be.
fn is_key_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| inner(*byte))
        && bytes.last().is_some_and(|byte| inner(*byte))
        && bytes.iter().all(|byte| inner(*byte) || b"-_.".contains(byte))
}

/// One part of a DNS name, in lower case.
pub(crate) fn dns_label(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_LABEL {
        found.push(too_long(MAX_LABEL));
    }
    if is_label(text) {
        return found;
    }
    found.push(if is_subdomain(text) {
        "must not contain dots".to_owned()
    } else {
        let words = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
             start and end with an alphanumeric character";
        form(words, &["my-name", "123-abc"], LABEL_FORM)
    });
    found
}

/// As [`dns_label`], and it starts with a letter.
pub(crate) fn dns_1035_label(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_LABEL {
        found.push(too_long(MAX_LABEL));
    }
    if !is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        let words = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
             alphabetic character, and end with an alphanumeric character";
        found.push(form(words, &["my-name", "abc-123"], "[a-z]([-a-z0-9]*[a-z0-9])?"));
    }
    found
}

/// A DNS name, in lower case.
pub(crate) fn dns_subdomain(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_SUBDOMAIN {
        found.push(too_long(MAX_SUBDOMAIN));
    }
    if !is_subdomain(text) {
        let words = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
             and must start and end with an alphanumeric character";
        found.push(form(words, &["example.com"], SUBDOMAIN_FORM));
    }
    found
}

/// The key of a label: a name, after a DNS name and a slash if it likes.
pub(crate) fn label_key(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let mut found = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        ["", name] => {
            found.push("prefix part must be non-empty".to_owned());
            *name
        }
        [prefix, name] => {
            found.extend(dns_subdomain(prefix).into_iter().map(|detail| format!("prefix part {detail}")));
            *name
        }
        _ => {
            let words = form(KEY_WORDS, &examples, KEY_FORM);
            let prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {words} {prefixed}")];
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_LABEL {
        found.push(format!("name part {}", too_long(MAX_LABEL)));
    }
    if !is_key_name(name) {
        found.push(format!("name part {}", form(KEY_WORDS, &examples, KEY_FORM)));
    }
    found
}

/// The value of a label.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_LABEL {
        found.push(too_long(MAX_LABEL));
    }
    if !text.is_empty() && !is_key_name(text) {
        let words = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
             and must start and end with an alphanumeric character";
        let wanted = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
        found.push(form(words, &["MyValue", "my_value", "12345"], wanted));
    }
    found
}

/// A key in the data of a `ConfigMap` or `Secret`.
pub(crate) fn data_key(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_SUBDOMAIN {
        found.push(too_long(MAX_SUBDOMAIN));
    }
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_known) {
        let words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        found.push(form(words, &["key.name", "KEY_NAME", "key-name"], "[-._a-zA-Z0-9]+"));
    }
    match text {
        "." => found.push("must not be '.'".to_owned()),
        ".." => found.push("must not be '..'".to_owned()),
        text if text.starts_with("..") => found.push("must not start with '..'".to_owned()),
        _ => {}
    }
    found
}

/// A share of a hundred, as text.
pub(crate) fn percent(text: &str) -> Option<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let words = "a valid percent string must be a numeric string followed by an ending '%'";
    Some(form(words, &["1%", "93%"], "[0-9]+%"))
}

/// The reason of a condition.
pub(crate) fn condition_reason(text: &str) -> Option<String> {
    let last = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let is_fine = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(|byte| last(*byte))
        && bytes.iter().all(|byte| last(*byte) || b",:".contains(byte));
    if is_fine {
        return None;
    }
    let words = "a condition reason must start with alphabetic character, optionally followed by a string of \
         alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
    let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
    Some(form(words, &examples, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"))
}

/// A name that can be a part of a path.
pub(crate) fn path_segment(text: &str) -> Vec<String> {
    if matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let parts = ["/", "%"].into_iter().filter(|part| text.contains(part));
    parts.map(|part| format!("may not contain '{part}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_fine_are_not_spoken_of() {
        assert!(dns_label("a-1").is_empty() && dns_1035_label("a1").is_empty());
        assert!(dns_subdomain("a.b-c.1").is_empty());
        assert!(label_key("example.com/My_Name").is_empty() && label_key("x").is_empty());
        assert!(label_value("").is_empty() && label_value("A.b").is_empty());
        assert!(data_key("a.b_C-1").is_empty() && percent("10%").is_none());
        assert!(condition_reason("A,b").is_none() && path_segment("a:b").is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_the_server() {
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
        assert_eq!(dns_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
        assert_eq!(
            label_key("/"),
            [
                "prefix part must be non-empty",
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
             '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ]
        );
        assert_eq!(data_key("..x"), ["must not start with '..'"]);
        assert_eq!(path_segment("a/b%"), ["may not contain '/'", "may not contain '%'"]);
        for wrong in ["", "-", "1x", "A", "é"] {
            assert_eq!(dns_1035_label(wrong).len(), 1, "{wrong}");
        }
        for wrong in ["%", "1", "x%", ""] {
            assert!(percent(wrong).is_some(), "{wrong}");
        }
    }
}
