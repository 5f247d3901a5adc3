//! Reading and completing the fields of an object.

use serde_json::{Map, Value};

use crate::schema::go_json;

/// A field that is there: what the type always shows is null when nothing was given.
pub(super) fn given<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|content| !content.is_null())
}

/// The text of a field; "" when it is not there.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

/// The number of a field.
pub(super) fn number(value: &Value, field: &str) -> Option<i64> {
    value.get(field).and_then(Value::as_i64)
}

/// Whether a field is there and true.
pub(super) fn is_true(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool) == Some(true)
}

/// The items of a list; none when it is not there.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of a map; none when it is not there.
pub(super) fn entries<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(field).and_then(Value::as_object).into_iter().flatten()
}

/// A struct as messages show it: these fields in their order, under their names in Go; what is not there is as given here.
pub(super) fn shown(value: &Value, fields: &[(&str, Value)]) -> String {
    let parts = fields.iter().map(|(field, unset)| {
        let (first, rest) = field.split_at(1);
        let content = given(value, field).unwrap_or(unset);
        format!("\"{}{rest}\":{}", first.to_uppercase(), go_json(content))
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

/// The field at a JSON pointer, null when it is not there.
pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// A field that holds an object, made where it is not there.
pub(super) fn inner<'a>(value: &'a mut Value, field: &str) -> &'a mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let inner = &mut value[field];
    if inner.is_null() {
        *inner = Value::Object(Map::new());
    }
    inner
}

/// Sets a field.
pub(super) fn set(value: &mut Value, field: &str, content: impl Into<Value>) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(field.to_owned(), content.into());
    }
}

/// Takes a field away.
pub(super) fn unset(value: &mut Value, field: &str) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove(field);
    }
}

/// Sets a field that is not there.
pub(super) fn fill(value: &mut Value, field: &str, default: impl Into<Value>) {
    if given(value, field).is_none() {
        set(value, field, default);
    }
}

/// Sets a field that is not there or an empty text.
pub(super) fn fill_text(value: &mut Value, field: &str, default: &str) {
    if text(value, field).is_empty() {
        set(value, field, default);
    }
}

/// Sets a field that is not there or 0.
pub(super) fn fill_number(value: &mut Value, field: &str, default: i64) {
    if number(value, field).unwrap_or(0) == 0 {
        set(value, field, default);
    }
}

/// Does something with every item of a list.
pub(super) fn each(value: &mut Value, field: &str, act: impl FnMut(&mut Value)) {
    value.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().for_each(act);
}

/// Does something with a field that is there.
pub(super) fn with(value: &mut Value, field: &str, act: impl FnOnce(&mut Value)) {
    if let Some(inner) = value.get_mut(field).filter(|content| !content.is_null()) {
        act(inner);
    }
}
