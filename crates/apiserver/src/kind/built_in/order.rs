//! The text of objects as errors quote it: in the order of the Go types, in which Go writes them. What a patch has opened is in
//! the order of names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::types::{Type, struct_of};
use crate::apply::json_text;

/// What a patch has opened, by names and indexes.
#[derive(Debug, Default)]
pub(crate) struct Opened(BTreeMap<String, Opened>);

impl Opened {
    /// By a merge patch of this object.
    pub(crate) fn by_merge(object: &Value, patch: &Value) -> Self {
        let fields = patch.as_object().into_iter().flatten();
        let both = fields.filter_map(|(name, change)| {
            let part = object.get(name).filter(|part| part.is_object() && change.is_object())?;
            Some((name.clone(), Self::by_merge(part, change)))
        });
        Self(both.collect())
    }

    /// By the operations of a JSON patch.
    pub(crate) fn by_operations(patch: &Value) -> Self {
        let mut opened = Self::default();
        for operation in patch.as_array().into_iter().flatten() {
            let paths = ["path", "from"].into_iter().filter_map(|name| operation.get(name)?.as_str());
            for path in paths {
                let mut here = &mut opened;
                let (around, _) = path.rsplit_once('/').unwrap_or_default();
                for step in around.split('/').skip(1) {
                    here = here.0.entry(step.replace("~1", "/").replace("~0", "~")).or_default();
                }
            }
        }
        opened
    }
}

/// The text of an object of a built-in kind, by its definition, or of a custom resource, which has no order but that of names,
/// after a patch.
pub(crate) fn patched(object: &Value, definition: Option<&str>, opened: &Opened) -> String {
    text(object, definition, Some(opened))
}

/// The text of metadata.
pub(crate) fn metadata(metadata: &Value) -> String {
    text(metadata, Some(super::OBJECT_META), None)
}

fn text(object: &Value, definition: Option<&str>, opened: Option<&Opened>) -> String {
    let of = definition.map(|definition| Type::Struct(definition.to_owned()));
    let mut text = String::new();
    write(object, of.as_ref(), opened, &mut text);
    text
}

fn write(value: &Value, of: Option<&Type>, opened: Option<&Opened>, text: &mut String) {
    let inside = |step: &str| opened.and_then(|opened| opened.0.get(step));
    match (value, of) {
        (value, Some(Type::Pointer(of))) => write(value, Some(of), opened, text),
        (Value::Object(fields), of) => {
            text.push('{');
            for (index, name) in in_order(fields, of, opened.is_some()).into_iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(&json_text(&name.as_str().into()));
                text.push(':');
                write(&fields[name], type_of_field(of, name), inside(name), text);
            }
            text.push('}');
        }
        (Value::Array(items), of) => {
            let of = if let Some(Type::List { item, .. }) = of { Some(&**item) } else { None };
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(item, of, inside(&index.to_string()), text);
            }
            text.push(']');
        }
        (other, _) => text.push_str(&json_text(other)),
    }
}

/// The names of the fields in the order in which they are written.
fn in_order<'a>(fields: &'a Map<String, Value>, of: Option<&Type>, is_open: bool) -> Vec<&'a String> {
    let mut names: Vec<&String> = fields.keys().collect();
    if let Some(Type::Struct(definition)) = of
        && !is_open
        && let Some(known) = struct_of(definition)
    {
        names.sort_by_key(|name| known.get(*name).map_or(usize::MAX, |field| field.place));
    }
    names
}

fn type_of_field<'a>(of: Option<&'a Type>, name: &str) -> Option<&'a Type> {
    match of? {
        Type::Struct(definition) => struct_of(definition)?.get(name).map(|field| &field.of),
        Type::Map { value, .. } => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_opened_is_in_the_order_of_its_type() {
        let object = json!({"data": {"b": "<", "a": 1}, "kind": "ConfigMap", "metadata": {"labels": {"x": "y"}, "name": "a"}});
        let definition = Some("io.k8s.api.core.v1.ConfigMap");
        let closed = patched(&object, definition, &Opened::by_merge(&object, &json!({"data": {"a": 1}})));
        let data = r#"{"data":{"a":1,"b":"\u003c"},"kind":"ConfigMap","metadata":"#;
        assert_eq!(closed, format!("{data}{}", r#"{"name":"a","labels":{"x":"y"}}}"#));
        let operations = json!([{"op": "add", "path": "/metadata/labels/z", "value": 1}]);
        let open = patched(&object, definition, &Opened::by_operations(&operations));
        assert_eq!(open, format!("{data}{}", r#"{"labels":{"x":"y"},"name":"a"}}"#));
        assert_eq!(patched(&json!({"b": 1, "a": [{}]}), None, &Opened::default()), r#"{"a":[{}],"b":1}"#);
    }
}
