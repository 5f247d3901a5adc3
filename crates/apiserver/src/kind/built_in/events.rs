//! Events have two forms, one in each of two groups, and are stored in one: that of the core group.

use serde_json::{Map, Value};

use super::read::read;

/// The definitions of the two.
pub(super) const CORE: &str = "io.k8s.api.core.v1.Event";
pub(super) const NEW: &str = "io.k8s.api.events.v1.Event";

/// The names of fields, in the core group and in the other.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// From the stored form to that of `events.k8s.io`.
pub(super) fn to_new(object: &mut Value) {
    rename(object, NAMES);
    let _ = read(NEW, object);
}

/// From the form of `events.k8s.io` to the stored one.
pub(in crate::kind) fn to_core(object: &mut Value) {
    rename(object, NAMES.map(|(core, new)| (new, core)));
    let _ = read(CORE, object);
}

fn rename(object: &mut Value, names: [(&str, &str); 7]) {
    let Some(fields) = object.as_object_mut() else { return };
    let moved: Map<String, Value> =
        names.iter().filter_map(|(from, to)| Some(((*to).to_owned(), fields.remove(*from)?))).collect();
    fields.extend(moved);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_the_same_in_both_groups() {
        let new = json!({
            "metadata": {"name": "a"}, "eventTime": "2024-01-01T00:00:00.000000Z", "regarding": {"kind": "Pod"}, "note": "n",
            "reportingController": "c", "deprecatedSource": {}, "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
            "series": {"count": 2, "lastObservedTime": "2024-01-01T00:00:00.000000Z"},
        });
        let mut object = new.clone();
        to_core(&mut object);
        assert_eq!((&object["message"], &object["involvedObject"]["kind"]), (&json!("n"), &json!("Pod")));
        assert_eq!((&object["reportingComponent"], &object["reportingInstance"]), (&json!("c"), &json!("")));
        to_new(&mut object);
        assert_eq!(object, new);
    }
}
