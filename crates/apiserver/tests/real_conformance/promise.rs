//! What is promised per kind: all of it, or all but what is listed here.

use serde_json::Value;

use crate::compare::forget;

/// Kinds of the weaker promise: parts that are not compared, by JSON pointer, and why.
const NOT_PROMISED: &[(&str, &str, &str)] = &[];

/// Removes what is not promised from an answer: the object itself, the items of a list, the objects of events.
pub(crate) fn keep_promised(answer: &mut Value) {
    let kind = answer["kind"].as_str().unwrap_or_default().to_owned();
    remove(answer, &kind);
    if let (Some(kind), Some(items)) = (kind.strip_suffix("List"), answer["items"].as_array_mut()) {
        for item in items {
            remove(item, kind);
        }
    }
    for event in answer["events"].as_array_mut().into_iter().flatten() {
        let kind = event["object"]["kind"].as_str().unwrap_or_default().to_owned();
        remove(&mut event["object"], &kind);
    }
}

fn remove(object: &mut Value, kind: &str) {
    for (_, pointer, _) in NOT_PROMISED.iter().filter(|(name, ..)| *name == kind) {
        forget(object, pointer);
    }
}
