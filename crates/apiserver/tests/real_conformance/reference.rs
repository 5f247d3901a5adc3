//! `${...}` in a case: words of its own, and parts of earlier answers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\{([^}]+)\}").unwrap());

/// Puts words in; what is no such word stays.
pub(crate) fn fill_text(text: &str, words: &BTreeMap<String, Value>) -> String {
    let put = |found: &Captures<'_>| match find(&found[1], words) {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => found[0].to_owned(),
    };
    REFERENCE.replace_all(text, put).into_owned()
}

/// Puts words in all texts of a value. A text that is nothing but a reference becomes what it names.
pub(crate) fn fill(value: &Value, words: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let whole = REFERENCE.captures(text).filter(|found| &found[0] == text);
            let named = whole.and_then(|found| find(&found[1], words));
            named.unwrap_or_else(|| Value::String(fill_text(text, words)))
        }
        Value::Array(items) => items.iter().map(|item| fill(item, words)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (fill_text(name, words), fill(value, words))).collect()
        }
        other => other.clone(),
    }
}

/// `word`, `word/json/pointer`, `word.rv`, `word.uid`, or `repeat COUNT TEXT`.
fn find(reference: &str, words: &BTreeMap<String, Value>) -> Option<Value> {
    if let Some(rest) = reference.strip_prefix("repeat ") {
        let (count, text) = rest.split_once(' ')?;
        return Some(Value::String(text.repeat(count.parse().ok()?)));
    }
    if let Some(name) = reference.strip_suffix(".rv") {
        return words.get(name)?.pointer("/metadata/resourceVersion").cloned();
    }
    if let Some(name) = reference.strip_suffix(".uid") {
        return words.get(name)?.pointer("/metadata/uid").cloned();
    }
    match reference.split_once('/') {
        Some((name, pointer)) => words.get(name)?.pointer(&format!("/{pointer}")).cloned(),
        None => words.get(reference).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_become_what_they_name() {
        let a = json!({"metadata": {"resourceVersion": "7", "uid": "u"}, "items": [{"n": 1}]});
        let words = BTreeMap::from([("a".to_owned(), a.clone()), ("n".to_owned(), json!("x"))]);
        assert_eq!(fill_text("v=${a.rv}&n=${n}&z=${z}", &words), "v=7&n=x&z=${z}");
        assert_eq!(fill(&json!({"o": "${a}", "i": "${a/items/0/n}", "u": "-${a.uid}"}), &words), {
            json!({"o": a, "i": 1, "u": "-u"})
        });
        assert_eq!(fill_text("${repeat 3 ab}", &words), "ababab");
    }
}
