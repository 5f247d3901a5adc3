//! What must differ between two servers, replaced by what must not: uids and versions by the order in which they are
//! first seen, times by a word.

use std::collections::HashMap;

use serde_json::Value;

/// The names given so far on one server.
#[derive(Debug, Default)]
pub(crate) struct Names {
    uids: HashMap<String, usize>,
    versions: HashMap<String, usize>,
}

impl Names {
    /// The object as it can be compared.
    pub(crate) fn normal(&mut self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
            for item in items.iter_mut() {
                *item = self.normal(item);
            }
            // The version of a list moves with whatever else happens on the server.
            object["metadata"]["resourceVersion"] = Value::Null;
            return object;
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            for (field, names) in [("uid", &mut self.uids), ("resourceVersion", &mut self.versions)] {
                if let Some(Value::String(text)) = metadata.get_mut(field) {
                    let next = names.len();
                    *text = format!("<{field} {}>", names.entry(text.clone()).or_insert(next));
                }
            }
            for field in ["creationTimestamp", "deletionTimestamp"] {
                if let Some(time) = metadata.get_mut(field).filter(|time| time.is_string()) {
                    *time = "<time>".into();
                }
            }
            if let Some(owners) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
                for owner in owners.iter_mut() {
                    owner["time"] = "<time>".into();
                }
                // They are in the order of their times, and the two servers are not equally fast.
                owners.sort_by_key(Value::to_string);
            }
        }
        object
    }

    /// A `Status`, of which uids and versions stand in texts, is compared without them.
    pub(crate) fn refusal(&self, status: &kube::core::Status) -> Value {
        let details = status.details.as_ref();
        // Conflicts come in an order of chance.
        let mut causes: Vec<Value> = details
            .into_iter()
            .flat_map(|details| &details.causes)
            .map(|cause| serde_json::json!([cause.reason, cause.field, cause.message]))
            .collect();
        causes.sort_by_key(Value::to_string);
        let mut message = status.message.clone();
        for known in self.uids.keys().chain(self.versions.keys()) {
            // Short numbers stand in other texts too.
            if known.len() > 3 {
                message = message.replace(known.as_str(), "<id>");
            }
        }
        let message = if message.contains("recondition") { String::new() } else { message };
        serde_json::json!({"code": status.code, "reason": status.reason, "message": message, "causes": causes})
    }
}

/// Where two answers differ, for people.
pub(crate) fn difference(real: &Value, ours: &Value) -> String {
    let lines = |value: &Value| -> Vec<String> {
        serde_json::to_string_pretty(value).unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let (real, ours) = (lines(real), lines(ours));
    let same = real.iter().zip(&ours).take_while(|(one, other)| one == other).count();
    let around = |lines: &[String]| {
        lines[same.saturating_sub(12).min(lines.len())..(same + 14).min(lines.len())].join("\n")
    };
    format!("the real server:\n{}\nours:\n{}", around(&real), around(&ours))
}
