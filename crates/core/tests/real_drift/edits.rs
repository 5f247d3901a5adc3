//! Random edits of objects: what a person changes in a live object, and what changes in what we want.

use serde_json::{Map, Value, json};

use crate::chance::Chance;

/// What is no edit of an object but another object, or the server's.
const FIXED: [&str; 7] = [
    "/apiVersion",
    "/kind",
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/ownerReferences",
    "/metadata/finalizers",
    "/spec/storage",
];
/// What the server keeps; a person does not edit it.
const KEPT: [&str; 9] = [
    "/metadata/creationTimestamp",
    "/metadata/generation",
    "/metadata/managedFields",
    "/metadata/resourceVersion",
    "/metadata/uid",
    "/status",
    "/spec/clusterIP",
    "/spec/clusterIPs",
    "/spec/selector",
];

/// Every place in a value, by JSON pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    if FIXED.contains(&at) || KEPT.contains(&at) {
        return;
    }
    if !["", "/metadata", "/spec"].contains(&at) {
        found.push(at.to_owned());
    }
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(inner, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Changes something.
pub(crate) fn change(object: &mut Value, chance: &mut Chance) {
    if chance.one_in(4) {
        return note(object, chance);
    }
    let mut found = Vec::new();
    places(object, "", &mut found);
    let at = found[chance.below(found.len())].clone();
    if chance.one_in(4) {
        return remove(object, &at);
    }
    let Some(value) = object.pointer_mut(&at) else { return };
    match value {
        Value::String(text) => *text = another_text(text, chance),
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or_default();
            *value = json!([0, 1, number + 1][chance.below(3)]);
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Array(items) if chance.one_in(2) => items.reverse(),
        Value::Array(items) => drop(items.pop()),
        Value::Object(fields) => field(fields, chance),
        Value::Null => {}
    }
}

/// The most frequent edit: a label or an annotation.
fn note(object: &mut Value, chance: &mut Chance) {
    let map = ["labels", "annotations"][chance.below(2)];
    let key = ["example.com/a", "example.com/b", "muster.dev/cluster"][chance.below(3)];
    let notes = &mut object["metadata"][map];
    if !notes.is_object() {
        *notes = json!({});
    }
    match chance.below(3) {
        0 => drop(notes.as_object_mut().unwrap().remove(key)),
        number => notes[key] = json!(["", "x", "y"][number]),
    }
}

fn remove(object: &mut Value, at: &str) {
    let (parent, name) = at.rsplit_once('/').unwrap();
    match object.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(items)) => drop(items.remove(name.parse().unwrap())),
        _ => {}
    }
}

/// Another text; of a quantity sometimes the same amount, written otherwise.
fn another_text(text: &str, chance: &mut Chance) -> String {
    let same = [("4Gi", "4096Mi"), ("64Mi", "65536Ki"), ("100m", "0.1"), ("10Gi", "10240Mi"), ("2", "2000m")];
    match same.iter().find(|(one, _)| *one == text) {
        Some((_, other)) if chance.one_in(2) => (*other).to_owned(),
        Some(_) => "8Gi".to_owned(),
        None => ["x".to_owned(), format!("{text}x"), String::new()][chance.below(3)].clone(),
    }
}

/// A field that may be absent, with a value or with that of its absence.
fn field(fields: &mut Map<String, Value>, chance: &mut Chance) {
    let some = [
        ("initialDelaySeconds", json!(0)),
        ("periodSeconds", json!(10)),
        ("readOnly", json!(false)),
        ("readOnly", json!(true)),
        ("tty", json!(true)),
        ("stdin", json!(false)),
        ("minReadySeconds", json!(0)),
        ("revisionHistoryLimit", json!(3)),
        ("workingDir", json!("/tmp")),
        ("hostNetwork", json!(false)),
        ("priorityClassName", json!("")),
        ("sessionAffinity", json!("ClientIP")),
        ("nodeSelector", json!({})),
        ("nodeSelector", json!({"a": "b"})),
        ("env", json!([{"name": "X", "value": "1"}])),
        ("x", json!("y")),
    ];
    if fields.contains_key("image") && chance.one_in(4) {
        fields.insert("args".to_owned(), json!([]));
        return;
    }
    let (name, value) = &some[chance.below(some.len())];
    fields.insert((*name).to_owned(), value.clone());
}

/// Takes away all requests and limits.
pub(crate) fn without_quantities(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !["requests", "limits", "sizeLimit"].contains(&name.as_str()));
            fields.values_mut().for_each(without_quantities);
        }
        Value::Array(items) => items.iter_mut().for_each(without_quantities),
        _ => {}
    }
}

/// The merge patch that makes one value of the other.
pub(crate) fn patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut changes = Map::new();
    for (name, value) in to {
        match from.get(name) {
            Some(before) if before == value => {}
            Some(before) => drop(changes.insert(name.clone(), patch(before, value))),
            None => drop(changes.insert(name.clone(), value.clone())),
        }
    }
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        changes.insert(name.clone(), Value::Null);
    }
    Value::Object(changes)
}
