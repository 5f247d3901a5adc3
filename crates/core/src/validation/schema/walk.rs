//! A walk through a manifest along its schema, as the API server walks it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};

use super::super::{Path, Violation};
use super::{bounds, rules};

/// What the walk found so far.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) violations: Vec<Violation>,
    /// How many of them are about form. Rules are not asked about what is malformed: they could not tell.
    malformed: usize,
}

impl Walk {
    /// A value that has not the form that its schema asks for.
    pub(super) fn malformed(&mut self, path: &Path, message: impl Into<String>) {
        self.malformed += 1;
        self.violations.push(Violation { path: path.to_string(), message: message.into() });
    }

    /// A value, and the value it replaces if there is one that answers to it.
    fn value(&mut self, schema: &JSONSchemaProps, value: &Value, old: Option<&Value>, path: &Path) {
        let before = self.malformed;
        if schema.x_kubernetes_int_or_string == Some(true) {
            if !value.is_string() && !bounds::is_integer(value) {
                self.malformed(path, "must be an integer or a string");
            }
        } else if let Some(wrong) =
            schema.type_.as_deref().and_then(|wanted| bounds::wrong_type(wanted, value))
        {
            return self.malformed(path, wrong);
        }
        for wrong in bounds::violations(schema, value) {
            self.malformed(path, wrong);
        }
        match value {
            Value::Object(_) => return self.object(schema, value, old, path, &[]),
            Value::Array(items) => self.list(schema, items, old, path),
            _ => {}
        }
        self.rules(schema, value, old, path, before);
    }

    /// An object: its required fields, its fields and its rules. `skipped` fields are not looked at.
    pub(super) fn object(
        &mut self,
        schema: &JSONSchemaProps,
        value: &Value,
        old: Option<&Value>,
        path: &Path,
        skipped: &[&str],
    ) {
        let before = self.malformed;
        let Value::Object(fields) = value else {
            return self.malformed(path, "must be an object");
        };
        for name in schema.required.iter().flatten() {
            let defaulted = property(schema, name).is_some_and(|p| p.default.is_some());
            if !defaulted && !fields.contains_key(name) {
                self.malformed(&path.field(name), "is required");
            }
        }
        for (name, item) in fields {
            if !skipped.contains(&name.as_str()) {
                self.field(schema, name, item, old, path);
            }
        }
        self.rules(schema, value, old, path, before);
    }

    fn field(
        &mut self,
        schema: &JSONSchemaProps,
        name: &str,
        item: &Value,
        old: Option<&Value>,
        path: &Path,
    ) {
        let old = old.and_then(|old| old.get(name));
        let (inner, path) = match (property(schema, name), &schema.additional_properties) {
            (Some(inner), _) => (inner, path.field(name)),
            (None, Some(JSONSchemaPropsOrBool::Schema(inner))) => (inner.as_ref(), path.key(name)),
            // What the schema does not know is dropped by the API server.
            (None, _) => return,
        };
        self.value(inner, item, old, &path);
    }

    fn list(&mut self, schema: &JSONSchemaProps, items: &[Value], old: Option<&Value>, path: &Path) {
        let Some(JSONSchemaPropsOrArray::Schema(inner)) = &schema.items else { return };
        let keys: Option<Vec<&str>> = match schema.x_kubernetes_list_type.as_deref() {
            Some("map") => {
                schema.x_kubernetes_list_map_keys.as_ref().map(|k| k.iter().map(String::as_str).collect())
            }
            Some("set") => Some(Vec::new()),
            _ => None,
        };
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            if let Some(keys) = &keys
                && items.iter().take(index).any(|earlier| answers(earlier, item, keys))
            {
                self.malformed(&path, "is given twice");
            }
            // Only in a list that is a map by keys does an old item answer to a new one.
            let old = keys.as_ref().filter(|keys| !keys.is_empty()).and_then(|keys| {
                let mut candidates = old.and_then(Value::as_array)?.iter();
                candidates.find(|candidate| answers(candidate, item, keys))
            });
            self.value(inner, item, old, &path);
        }
    }

    /// The rules of this place, unless something in it is malformed. Those of the object itself are about its
    /// name, and are asked all the same.
    fn rules(
        &mut self,
        schema: &JSONSchemaProps,
        value: &Value,
        old: Option<&Value>,
        path: &Path,
        before: usize,
    ) {
        if self.malformed != before && !path.is_root() {
            return;
        }
        for rule in schema.x_kubernetes_validations.iter().flatten() {
            if !rules::holds(&rule.rule, value, old) {
                let message = rule.message.clone().unwrap_or_else(|| rule.rule.clone());
                self.violations.push(Violation { path: place(path), message });
            }
        }
    }
}

/// The path; that of a rule about the object itself is its name.
fn place(path: &Path) -> String {
    if path.is_root() { "metadata.name".to_owned() } else { path.to_string() }
}

fn property<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    schema.properties.as_ref().and_then(|properties| properties.get(name))
}

/// Whether two items of a list are the same one: by their keys, or as a whole where there are none.
fn answers(left: &Value, right: &Value, keys: &[&str]) -> bool {
    if keys.is_empty() {
        return left == right;
    }
    let part = |value: &Value, key: &str| {
        value.as_object().and_then(|fields: &Map<String, Value>| fields.get(key).cloned())
    };
    keys.iter().all(|key| part(left, key) == part(right, key))
}
