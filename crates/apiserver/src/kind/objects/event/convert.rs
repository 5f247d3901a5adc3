//! Events of the core group as those of `events.k8s.io`, and back.

use serde_json::{Map, Value, json};

/// What an event of the core group always says, if only that there is nothing.
pub(super) const ALWAYS_CORE: [(&str, Nothing); 7] = [
    ("involvedObject", Nothing::Object),
    ("source", Nothing::Object),
    ("firstTimestamp", Nothing::Null),
    ("lastTimestamp", Nothing::Null),
    ("eventTime", Nothing::Null),
    ("reportingComponent", Nothing::Text),
    ("reportingInstance", Nothing::Text),
];

/// The same in `events.k8s.io`.
pub(super) const ALWAYS_NEW: [(&str, Nothing); 5] = [
    ("eventTime", Nothing::Null),
    ("regarding", Nothing::Object),
    ("deprecatedSource", Nothing::Object),
    ("deprecatedFirstTimestamp", Nothing::Null),
    ("deprecatedLastTimestamp", Nothing::Null),
];

/// How a field says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nothing {
    Null,
    Object,
    Text,
}

/// The fields that have another name in `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Adds what an event always says.
pub(super) fn complete(event: &mut Value, always: &[(&str, Nothing)]) {
    let Some(fields) = event.as_object_mut() else { return };
    for (field, nothing) in always {
        fields.entry(*field).or_insert_with(|| match nothing {
            Nothing::Null => Value::Null,
            Nothing::Object => json!({}),
            Nothing::Text => "".into(),
        });
    }
    if let Some(series) = fields.get_mut("series").and_then(Value::as_object_mut) {
        series.entry("lastObservedTime").or_insert(Value::Null);
    }
}

/// An event of the core group as `events.k8s.io/v1` has it.
#[must_use]
pub fn to_events_v1(event: &Value) -> Value {
    let mut new = renamed(event, "events.k8s.io/v1", |name| {
        NAMES.iter().find(|(core, _)| *core == name).map(|(_, new)| *new)
    });
    if let Some(fields) = new.as_object_mut() {
        // Here these are left out when they say nothing, and there they are not.
        for field in ["reportingController", "reportingInstance"] {
            if fields.get(field).and_then(Value::as_str) == Some("") {
                fields.remove(field);
            }
        }
        if let Some(series) = fields.get_mut("series").and_then(Value::as_object_mut) {
            series.entry("count").or_insert_with(|| 0.into());
        }
    }
    complete(&mut new, &ALWAYS_NEW);
    new
}

/// An event of `events.k8s.io/v1` as the core group has it.
#[must_use]
pub fn to_core_v1(event: &Value) -> Value {
    let mut core =
        renamed(event, "v1", |name| NAMES.iter().find(|(_, new)| *new == name).map(|(core, _)| *core));
    if let Some(series) = core.get_mut("series").and_then(Value::as_object_mut)
        && series.get("count").and_then(Value::as_i64) == Some(0)
    {
        series.remove("count");
    }
    complete(&mut core, &ALWAYS_CORE);
    core
}

fn renamed(event: &Value, version: &str, name_of: impl Fn(&str) -> Option<&'static str>) -> Value {
    let fields = event.as_object().into_iter().flatten();
    let mut renamed: Map<String, Value> =
        fields.map(|(name, value)| (name_of(name).unwrap_or(name).to_owned(), value.clone())).collect();
    renamed.insert("apiVersion".to_owned(), version.into());
    Value::Object(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_back_as_it_was() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}, "involvedObject": {"kind": "Pod"}, "message": "m",
            "source": {"component": "c"}, "firstTimestamp": "t", "lastTimestamp": null, "eventTime": null, "count": 2,
            "reportingComponent": "", "reportingInstance": "i", "type": "Normal",
        });
        let new = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a"}, "regarding": {"kind": "Pod"},
            "note": "m", "deprecatedSource": {"component": "c"}, "deprecatedFirstTimestamp": "t",
            "deprecatedLastTimestamp": null, "eventTime": null, "deprecatedCount": 2, "reportingInstance": "i",
            "type": "Normal",
        });
        assert_eq!(to_events_v1(&core), new);
        assert_eq!(to_core_v1(&new), core);
    }
}
