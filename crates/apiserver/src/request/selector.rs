//! Label and field selectors.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::registry::Selectable;

/// The longest selector that is read.
pub const MAX_SELECTOR_BYTES: usize = 16 * 1024;

/// A selector that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

/// One requirement on a label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
    Exists(String),
    Absent(String),
}

/// A label selector: every requirement must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Requirement>);

impl Labels {
    /// Understands `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(SelectorError(format!("a selector has at most {MAX_SELECTOR_BYTES} bytes")));
        }
        split_outside_brackets(text).into_iter().map(requirement).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this object is selected.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        let label = |name: &str| labels.and_then(|labels| labels.get(name)).and_then(Value::as_str);
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(name, values) => label(name).is_some_and(|value| values.contains(value)),
            Requirement::NotIn(name, values) => label(name).is_none_or(|value| !values.contains(value)),
            Requirement::Exists(name) => label(name).is_some(),
            Requirement::Absent(name) => label(name).is_none(),
        })
    }
}

fn requirement(text: &str) -> Result<Requirement, SelectorError> {
    let text = text.trim();
    let wrong = || SelectorError(format!("unable to parse requirement: {text:?}"));
    if let Some(name) = text.strip_prefix('!') {
        return name_of(name).map(Requirement::Absent).ok_or_else(wrong);
    }
    for (operator, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((name, value)) = text.split_once(operator) {
            let name = name_of(name).ok_or_else(wrong)?;
            let value = value_of(value).ok_or_else(wrong)?;
            return Ok(set(name, BTreeSet::from([value]), negated));
        }
    }
    if let Some((head, values)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let (name, operator) = head.trim().rsplit_once(char::is_whitespace).ok_or_else(wrong)?;
        let negated = match operator {
            "in" => false,
            "notin" => true,
            _ => return Err(wrong()),
        };
        let values: Option<BTreeSet<String>> = values.split(',').map(value_of).collect();
        return Ok(set(name_of(name).ok_or_else(wrong)?, values.ok_or_else(wrong)?, negated));
    }
    name_of(text).map(Requirement::Exists).ok_or_else(wrong)
}

fn set(name: String, values: BTreeSet<String>, negated: bool) -> Requirement {
    if negated { Requirement::NotIn(name, values) } else { Requirement::In(name, values) }
}

fn name_of(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = |part: &str, most: usize| {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = part.as_bytes();
        bytes.len() <= most
            && bytes.iter().all(|byte| inside(*byte))
            && ends(bytes.first())
            && ends(bytes.last())
    };
    let fine = match text.split_once('/') {
        Some((prefix, name)) => fits(prefix, 253) && fits(name, 63),
        None => fits(text, 63),
    };
    fine.then(|| text.to_owned())
}

fn value_of(text: &str) -> Option<String> {
    let text = text.trim();
    (text.is_empty() || (name_of(text).is_some() && !text.contains('/'))).then(|| text.to_owned())
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if parts == [""] { Vec::new() } else { parts }
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
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let operators = [("!=", false), ("==", true), ("=", true)];
            let found = operators.into_iter().find_map(|(operator, equal)| {
                term.split_once(operator).map(|(field, value)| (field.to_owned(), equal, value.to_owned()))
            });
            let wrong = || SelectorError(format!("invalid selector: {text:?}; can't understand {term:?}"));
            let (field, equal, value) = found.ok_or_else(wrong)?;
            terms.push((known(&field, selectable)?, equal, value));
        }
        Ok(Self(terms))
    }

    /// Whether this object is selected. A field that is not there is "".
    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(field, equal, wanted)| (text_at(object, field) == *wanted) == *equal)
    }
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

    fn selects(selector: &str) -> bool {
        let object = json!({"metadata": {"name": "x", "labels": {"app": "db", "tier": "gold", "empty": ""}}});
        Labels::parse(selector).unwrap().matches(&object)
    }

    #[test]
    fn every_form_of_requirement() {
        for yes in [
            "",
            "app=db",
            "app==db",
            "app!=web",
            "other!=x",
            "app in (db,web)",
            "app notin (web)",
            "app",
            "!other",
            "other notin (x)",
            "empty=",
            "app = db , tier in ( gold )",
            "example.org/x!=y",
        ] {
            assert!(selects(yes), "{yes}");
        }
        for no in [
            "app=web",
            "app!=db",
            "other=x",
            "app in (web)",
            "app notin (db,web)",
            "other",
            "!app",
            "app=db,tier=silver",
        ] {
            assert!(!selects(no), "{no}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_refused() {
        for bad in
            ["=x", "a b", "a in x", "a of (x)", "!", "a=b c", "a in (x", "-a", "a/b/c", "a=b/c", ",", "a,,b"]
        {
            assert!(Labels::parse(bad).is_err(), "{bad}");
        }
        assert!(Labels::parse(&"a".repeat(MAX_SELECTOR_BYTES + 1)).is_err());
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
