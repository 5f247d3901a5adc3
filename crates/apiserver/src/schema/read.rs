//! Reading a schema from JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cel::Compiled;
use super::field_error::FieldError;
use super::node::{Additional, Bounds, Node, Rule};
use super::path::Path;
use super::pattern;

/// Deeper schemas are refused: every walk over a schema recurses.
const MAX_DEPTH: usize = 64;

/// Reads a schema; what cannot be read is a problem of its own.
pub(crate) fn read(value: &Value, path: &Path) -> Result<Node, FieldError> {
    Reader { path: path.clone(), depth: 0 }.node(value)
}

struct Reader {
    path: Path,
    depth: usize,
}

impl Reader {
    fn within(&self, path: Path) -> Self {
        Self { path, depth: self.depth + 1 }
    }

    fn node(&self, value: &Value) -> Result<Node, FieldError> {
        let Value::Object(fields) = value else {
            return Err(FieldError::invalid(&self.path, value.clone(), "must be a schema"));
        };
        if self.depth > MAX_DEPTH {
            return Err(FieldError::forbidden(
                &self.path,
                format!("must not be nested deeper than {MAX_DEPTH}"),
            ));
        }
        let mut unsupported = unsupported(fields);
        let items = match fields.get("items") {
            None | Some(Value::Null) => None,
            Some(Value::Array(_)) => {
                unsupported.push("items");
                None
            }
            Some(schema) => Some(Box::new(self.within(self.path.child("items")).node(schema)?)),
        };
        let (properties, additional) = (self.properties(fields)?, self.additional(fields)?);
        let rules = self.rules(fields)?;
        let inside = additional.iter().filter_map(|other| other.schema.as_deref()).chain(items.as_deref());
        let rules_inside =
            !rules.is_empty() || properties.values().chain(inside).any(|node| node.rules_inside);
        Ok(Node {
            kind: self.text(fields, "type")?,
            nullable: self.flag(fields, "nullable")?.unwrap_or_default(),
            has_title: !self.text(fields, "title")?.is_empty(),
            has_description: !self.text(fields, "description")?.is_empty(),
            default: fields.get("default").filter(|value| !value.is_null()).cloned(),
            bounds: self.bounds(fields)?,
            all_of: self.list(fields, "allOf")?,
            any_of: self.list(fields, "anyOf")?,
            one_of: self.list(fields, "oneOf")?,
            not: self.optional(fields, "not")?,
            properties,
            additional,
            items,
            preserve: self.flag(fields, "x-kubernetes-preserve-unknown-fields")?,
            embedded: self.flag(fields, "x-kubernetes-embedded-resource")?.unwrap_or_default(),
            int_or_string: self.flag(fields, "x-kubernetes-int-or-string")?.unwrap_or_default(),
            list_type: self.optional_text(fields, "x-kubernetes-list-type")?,
            list_map_keys: self.texts(fields, "x-kubernetes-list-map-keys")?,
            map_type: self.optional_text(fields, "x-kubernetes-map-type")?,
            rules,
            rules_inside,
            unsupported,
        })
    }

    fn bounds(&self, fields: &Map<String, Value>) -> Result<Bounds, FieldError> {
        let pattern = self.text(fields, "pattern")?;
        Ok(Bounds {
            format: self.text(fields, "format")?,
            maximum: self.number(fields, "maximum")?,
            exclusive_maximum: self.flag(fields, "exclusiveMaximum")?.unwrap_or_default(),
            minimum: self.number(fields, "minimum")?,
            exclusive_minimum: self.flag(fields, "exclusiveMinimum")?.unwrap_or_default(),
            max_length: self.integer(fields, "maxLength")?,
            min_length: self.integer(fields, "minLength")?,
            regex: Some(&pattern)
                .filter(|pattern| !pattern.is_empty())
                .and_then(|pattern| pattern::compile(pattern).ok()),
            pattern,
            max_items: self.integer(fields, "maxItems")?,
            min_items: self.integer(fields, "minItems")?,
            unique_items: self.flag(fields, "uniqueItems")?.unwrap_or_default(),
            multiple_of: self.number(fields, "multipleOf")?,
            allowed: self.array(fields, "enum")?.to_vec(),
            max_properties: self.integer(fields, "maxProperties")?,
            min_properties: self.integer(fields, "minProperties")?,
            required: self.texts(fields, "required")?,
        })
    }

    fn properties(&self, fields: &Map<String, Value>) -> Result<BTreeMap<String, Node>, FieldError> {
        let path = self.path.child("properties");
        match fields.get("properties") {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(properties)) => properties
                .iter()
                .map(|(name, schema)| Ok((name.clone(), self.within(path.key(name)).node(schema)?)))
                .collect(),
            Some(other) => Err(FieldError::type_invalid(&path, other.clone(), "must be an object")),
        }
    }

    fn additional(&self, fields: &Map<String, Value>) -> Result<Option<Additional>, FieldError> {
        Ok(match fields.get("additionalProperties") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(allows)) => Some(Additional { allows: *allows, schema: None }),
            Some(schema) => {
                let node = self.within(self.path.child("additionalProperties")).node(schema)?;
                Some(Additional { allows: true, schema: Some(Box::new(node)) })
            }
        })
    }

    fn rules(&self, fields: &Map<String, Value>) -> Result<Vec<Rule>, FieldError> {
        let name = "x-kubernetes-validations";
        let rules = self.array(fields, name)?.iter().enumerate().map(|(index, rule)| {
            let reader = self.within(self.path.child(name).index(index));
            let Value::Object(fields) = rule else {
                return Err(FieldError::type_invalid(&reader.path, rule.clone(), "must be an object"));
            };
            let text = reader.text(fields, "rule")?;
            let message_expression = reader.text(fields, "messageExpression")?;
            let optional = reader.flag(fields, "optionalOldSelf")?;
            Ok(Rule {
                compiled: Arc::new(Compiled::new(&text, &message_expression, optional == Some(true))),
                text,
                message: reader.text(fields, "message")?,
                message_expression,
                reason: reader.optional_text(fields, "reason")?,
                field_path: reader.text(fields, "fieldPath")?,
                optional_old_self: optional,
            })
        });
        rules.collect()
    }

    fn optional(&self, fields: &Map<String, Value>, name: &str) -> Result<Option<Box<Node>>, FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(schema) => Ok(Some(Box::new(self.within(self.path.child(name)).node(schema)?))),
        }
    }

    fn list(&self, fields: &Map<String, Value>, name: &str) -> Result<Vec<Node>, FieldError> {
        let path = self.path.child(name);
        let schemas = self.array(fields, name)?.iter().enumerate();
        schemas.map(|(index, schema)| self.within(path.index(index)).node(schema)).collect()
    }

    fn array<'a>(&self, fields: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(name, other, "an array")),
        }
    }

    fn texts(&self, fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, FieldError> {
        let texts = self.array(fields, name)?.iter().map(|item| match item {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.wrong(name, other, "a list of strings")),
        });
        texts.collect()
    }

    fn optional_text(&self, fields: &Map<String, Value>, name: &str) -> Result<Option<String>, FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(name, other, "a string")),
        }
    }

    fn text(&self, fields: &Map<String, Value>, name: &str) -> Result<String, FieldError> {
        Ok(self.optional_text(fields, name)?.unwrap_or_default())
    }

    fn flag(&self, fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(self.wrong(name, other, "a boolean")),
        }
    }

    fn number(&self, fields: &Map<String, Value>, name: &str) -> Result<Option<f64>, FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| self.wrong(name, value, "a number")),
        }
    }

    fn integer(&self, fields: &Map<String, Value>, name: &str) -> Result<Option<i64>, FieldError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| self.wrong(name, value, "an integer")),
        }
    }

    fn wrong(&self, name: &str, value: &Value, wanted: &str) -> FieldError {
        FieldError::type_invalid(&self.path.child(name), value.clone(), format!("must be {wanted}"))
    }
}

/// The keywords of a schema that no CRD may use, if they say anything.
fn unsupported(fields: &Map<String, Value>) -> Vec<&'static str> {
    let names =
        ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref", "$schema"];
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    names.into_iter().filter(|name| fields.get(*name).is_some_and(|value| !says_nothing(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_keyword_is_read() {
        let node = Node::read(
            &json!({
                "type": "object", "required": ["a"], "minProperties": 1,
                "properties": {"a": {"type": "integer", "maximum": 2, "default": 1}},
                "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": true}],
            }),
            &Path::root(),
        )
        .unwrap();
        assert_eq!(node.properties["a"].bounds.maximum, Some(2.0));
        assert_eq!(node.bounds.required, ["a"]);
        assert_eq!(node.rules[0].optional_old_self, Some(true));
    }

    #[test]
    fn a_keyword_of_the_wrong_type_is_named() {
        let error = Node::read(&json!({"properties": {"a": {"maximum": "x"}}}), &Path::root()).unwrap_err();
        assert_eq!(error.to_string(), r#"properties[a].maximum: Invalid value: "x": must be a number"#);
    }

    #[test]
    fn a_schema_that_is_too_deep_is_refused() {
        let mut schema = json!({"type": "string"});
        for _ in 0..70 {
            schema = json!({"type": "array", "items": schema});
        }
        assert_eq!(Node::read(&schema, &Path::root()).unwrap_err().kind, super::super::ErrorKind::Forbidden);
    }
}
