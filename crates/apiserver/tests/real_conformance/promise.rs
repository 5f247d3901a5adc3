//! What is promised per kind: all of it, or all but what is listed here.

use serde_json::Value;

use crate::compare::forget;

/// Kinds of the weaker promise: parts that are not compared, by JSON pointer, and why.
const NOT_PROMISED: &[(&str, &str, &str)] = &[];

/// Removes what is not promised from an answer: the object itself, the items of a list, the objects of events.
pub(crate) fn keep_promised(answer: &mut Value) {
    let kind = kind_of(answer);
    remove(answer, &kind);
    if let (Some(kind), Some(Value::Array(items))) = (kind.strip_suffix("List"), answer.get_mut("items")) {
        for item in items {
            remove(item, kind);
        }
    }
    let events = answer.get_mut("events").and_then(Value::as_array_mut);
    for object in events.into_iter().flatten().filter_map(|event| event.get_mut("object")) {
        remove(object, &kind_of(object));
    }
}

fn kind_of(object: &Value) -> String {
    object["kind"].as_str().unwrap_or_default().to_owned()
}

fn remove(object: &mut Value, kind: &str) {
    for (_, pointer, _) in NOT_PROMISED.iter().filter(|(name, ..)| *name == kind) {
        forget(object, pointer);
    }
}
