//! One step of a path to a field: a name, the keys of a list's item, its value, or its index.

use std::fmt;

use serde_json::Value;

use crate::apply::literal::{self, Literal};

/// One step of a path. Steps are ordered as the server prints them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A field of an object, printed as `f:name`.
    Field(String),
    /// The item of a list with these values of its keys, sorted by name, printed as `k:{…}`.
    Key(Vec<(String, Literal)>),
    /// The item of a set with this value, printed as `v:…`.
    Value(Literal),
    /// The item at this index, printed as `i:0`.
    Index(i64),
}

/// The steps from the root of an object to a field.
pub type Path = Vec<PathElement>;

/// A path as messages print it: `.spec.ports[name="http"]`.
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}

impl PathElement {
    /// A field of an object.
    pub fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// The key under which this step is stored in `fieldsV1`.
    pub(crate) fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let pairs: Vec<_> = keys
                    .iter()
                    // The name of a key is not escaped for HTML, its value is.
                    .map(|(name, value)| {
                        format!("{}:{}", Value::from(name.as_str()), literal::json(&value.0))
                    })
                    .collect();
                format!("k:{{{}}}", pairs.join(","))
            }
            Self::Value(value) => format!("v:{}", literal::json(&value.0)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Reads a key of `fieldsV1`; `None` is a kind of step from the future, which is skipped.
    pub(crate) fn decode(text: &str) -> Result<Option<Self>, String> {
        if text.len() < 2 {
            return Err("key must be 2 characters long:".into());
        }
        let Some((kind, rest)) = text.split_once(':').filter(|(kind, _)| kind.len() == 1) else {
            return Err(format!("missing colon: {text}"));
        };
        let json = || serde_json::from_str::<Value>(rest).map_err(|error| error.to_string());
        Ok(Some(match kind {
            "f" => Self::Field(rest.into()),
            "v" => Self::Value(Literal(json()?)),
            "i" => Self::Index(rest.parse().map_err(|error| format!("{error}"))?),
            "k" => match json()? {
                Value::Object(map) => Self::keyed(map.into_iter().collect()),
                other => return Err(format!("expected an object of keys, got {other}")),
            },
            _ => return Ok(None),
        }))
    }

    /// The item of a list with these values of its keys.
    pub(crate) fn keyed(keys: Vec<(String, Value)>) -> Self {
        let mut keys: Vec<_> = keys.into_iter().map(|(name, value)| (name, Literal(value))).collect();
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(keys)
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let pairs: Vec<_> =
                    keys.iter().map(|(name, value)| format!("{name}={}", literal::shown(&value.0))).collect();
                write!(f, "[{}]", pairs.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", literal::shown(&value.0)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_step_is_read_and_printed() {
        for text in
            ["f:a.b/c", "f:", r#"k:{"name":"a","port":80}"#, r#"v:"a\u003cb""#, "v:1", "v:true", "i:3"]
        {
            assert_eq!(PathElement::decode(text).unwrap().unwrap().encode(), text);
        }
        assert_eq!(PathElement::decode("x:later"), Ok(None));
        assert!(PathElement::decode("f").is_err());
        assert!(PathElement::decode("field").is_err());
        assert!(PathElement::decode("i:x").is_err());
        assert!(PathElement::decode("k:[]").is_err());
    }

    #[test]
    fn messages_print_paths_as_people_read_them() {
        let path = [
            PathElement::field("spec"),
            PathElement::keyed(vec![("port".into(), json!(80)), ("name".into(), json!("a"))]),
            PathElement::Value(Literal(json!("x"))),
            PathElement::Index(2),
        ];
        assert_eq!(path_text(&path), r#".spec[name="a",port=80][="x"][2]"#);
    }

    #[test]
    fn names_come_before_keys_before_values_before_indexes() {
        let steps = [
            PathElement::field("z"),
            PathElement::keyed(vec![("name".into(), json!("a"))]),
            PathElement::Value(Literal(json!(1))),
            PathElement::Index(0),
        ];
        assert!(steps.is_sorted());
    }
}
