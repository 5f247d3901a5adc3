//! A value without some of its fields.

use serde_json::{Map, Value};

use crate::apply::fields::{FieldSet, PathElement};
use crate::apply::typing::{Form, ListView, MapView, View};

/// Takes the fields out of the value. What has nothing left becomes null.
pub(crate) fn remove(view: View<'_>, value: &Value, fields: &FieldSet) -> Value {
    match (view.narrowed(Some(value)).form(), value) {
        (Some(Form::Scalar(_)), value) => value.clone(),
        (Some(Form::Map(map)), Value::Object(object)) if !map.atomic => from_map(map, object, fields),
        (Some(Form::List(list)), Value::Array(items)) if !list.atomic() => from_list(list, items, fields),
        _ => Value::Null,
    }
}

fn from_map(map: MapView<'_>, object: &Map<String, Value>, fields: &FieldSet) -> Value {
    let mut kept = Map::new();
    for (name, value) in object {
        let element = PathElement::field(name);
        if fields.has_member(&element) {
            continue;
        }
        let value = match fields.below(&element) {
            Some(below) => remove(map.field(name), value, below),
            None => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

fn from_list(list: ListView<'_>, items: &[Value], fields: &FieldSet) -> Value {
    let mut kept = Vec::new();
    for item in items {
        let Ok(element) = list.identify(item) else {
            kept.push(item.clone());
            continue;
        };
        if !fields.has_member(&element) {
            kept.push(match fields.below(&element) {
                Some(below) => remove(list.element(), item, below),
                None => item.clone(),
            });
        }
    }
    if kept.is_empty() { Value::Null } else { Value::Array(kept) }
}
