//! The forms of keys, shares and reasons, and what is said of those that are not in form. Those of names and labels are
//! in [`crate::kind::metadata`].

/// Longest key, as long as the longest DNS name.
const MAX_KEY: usize = 253;

/// What is wrong, the form that is wanted, and examples of it.
fn form(words: &str, examples: &[&str], form: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{words} (e.g. {}regex used for validation is '{form}')", examples.join(" or "))
}

/// A key in the data of a `ConfigMap` or `Secret`.
pub(crate) fn data_key(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > MAX_KEY {
        found.push(format!("must be no more than {MAX_KEY} characters"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_form_is_not_spoken_of() {
        assert!(data_key("a.b_C-1").is_empty());
        assert!(percent("10%").is_none());
        assert!(condition_reason("A,b").is_none());
    }

    #[test]
    fn what_is_not_in_form_is_said_in_the_words_of_the_server() {
        assert_eq!(data_key("..x"), ["must not start with '..'"]);
        assert_eq!(data_key(&"x".repeat(254)), ["must be no more than 253 characters"]);
        for wrong in ["%", "1", "x%", ""] {
            let said = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
                 regex used for validation is '[0-9]+%')";
            assert_eq!(percent(wrong).as_deref(), Some(said), "{wrong}");
        }
    }
}
