//! Field selectors, and what they have in common with those of labels.

use serde_json::Value;

pub use super::labels::Labels;

use crate::registry::Selectable;

/// The longest selector that is read.
pub const MAX_SELECTOR_BYTES: usize = 16 * 1024;

/// A selector that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

impl SelectorError {
    pub(super) fn new(why: String) -> Self {
        Self(why)
    }
}

/// A field selector: every field must be, or must not be, that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(Selectable, bool, String)>);

impl Fields {
    /// Understands `a=b,c!=d` on the fields that this resource can be selected by.
    pub fn parse(text: &str, selectable: &[Selectable]) -> Result<Self, SelectorError> {
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(SelectorError(format!("a selector has at most {MAX_SELECTOR_BYTES} bytes")));
        }
        let mut terms = Vec::new();
        for term in split_unescaped(text).into_iter().filter(|term| !term.is_empty()) {
            let wrong = || SelectorError(format!("invalid selector: '{text}'; can't understand '{term}'"));
            let (field, equal, value) = split_term(term).ok_or_else(wrong)?;
            terms.push((field, equal, unescape(value)?));
        }
        let known = |(field, equal, value)| Ok((known(field, selectable)?, equal, value));
        let terms = terms.into_iter().map(known).collect::<Result<_, SelectorError>>()?;
        Ok(Self(terms))
    }

    /// Whether this object is selected. A field that is not there is "".
    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(field, equal, wanted)| (text_at(object, field) == *wanted) == *equal)
    }
}

/// The parts between commas that no backslash escapes.
fn split_unescaped(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The field, whether it must be equal, and the value.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find(['!', '='])?;
    let (field, rest) = term.split_at(at);
    let operators = [("!=", false), ("==", true), ("=", true)];
    operators.into_iter().find_map(|(sign, equal)| rest.strip_prefix(sign).map(|value| (field, equal, value)))
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let sequence: String = other.into_iter().collect();
                    let why = format!("invalid field selector: invalid escape sequence: \\{sequence}");
                    return Err(SelectorError(why));
                }
            },
            ',' | '=' => {
                let code = u32::from(character);
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {code}"
                )));
            }
            other => plain.push(other),
        }
    }
    Ok(plain)
}

/// The field that a selector names.
fn known(label: &str, selectable: &[Selectable]) -> Result<Selectable, SelectorError> {
    let usual = ["metadata.name", "metadata.namespace"];
    match selectable.iter().find(|field| field.label == label) {
        Some(field) => Ok(field.clone()),
        None if selectable.is_empty() && usual.contains(&label) => Ok(Selectable::at(label)),
        None if selectable.is_empty() => {
            let [name, namespace] = usual;
            let why = format!("{label:?} is not a known field selector: only {name:?}, {namespace:?}");
            Err(SelectorError(why))
        }
        None => Err(SelectorError(format!("field label not supported: {label}"))),
    }
}

fn text_at(object: &Value, field: &Selectable) -> String {
    let texts = field.path.split('|').filter_map(|path| {
        match path.split('.').try_fold(object, |value, part| value.get(part))? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    });
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| field.missing.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_may_be_escaped() {
        let object = json!({"metadata": {"name": "a,b=c"}});
        assert!(Fields::parse("metadata.name=a\\,b\\=c", &[]).unwrap().matches(&object));
        let why = |text: &str| Fields::parse(text, &[]).unwrap_err().to_string();
        assert_eq!(why("a=b=c"), "invalid field selector: unescaped character in value: 61");
        assert_eq!(why("a=\\b"), "invalid field selector: invalid escape sequence: \\b");
        assert_eq!(why("a,b=c"), "invalid selector: 'a,b=c'; can't understand 'a'");
    }

    #[test]
    fn fields_are_those_that_can_be_selected_by() {
        let object = json!({"metadata": {"name": "x"}, "spec": {"n": 3}});
        let count =
            Selectable { missing: "0".into(), path: "status.a|spec.b".into(), ..Selectable::at("count") };
        let selectable =
            [Selectable::at("metadata.name"), Selectable::at("spec.n"), Selectable::at("spec.absent"), count];
        let selects = |text: &str| Fields::parse(text, &selectable).unwrap().matches(&object);
        assert!(selects("") && selects("metadata.name=x") && selects("metadata.name!=y,spec.n=3"));
        assert!(selects("spec.absent=") && !selects("spec.n!=3") && !selects("metadata.name==y"));
        let refused = Fields::parse("spec.m=1", &selectable).unwrap_err();
        assert_eq!(refused.to_string(), "field label not supported: spec.m");
        assert!(Fields::parse("metadata.name", &selectable).is_err());
        assert!(selects("count=0"));
        let counted = json!({"spec": {"b": 3}});
        assert!(Fields::parse("count=3", &selectable).unwrap().matches(&counted));
        assert!(Fields::parse("metadata.namespace=a", &[]).is_ok());
        let refused = Fields::parse("spec.m=1", &[]).unwrap_err();
        let why = r#""spec.m" is not a known field selector: only "metadata.name", "metadata.namespace""#;
        assert_eq!(refused.to_string(), why);
    }
}
