//! `Event` in both groups, and what becomes of one read in the other.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::{Bench, changed};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const TIME: &str = "2026-01-01T00:00:00.000000Z";

/// What is wrong with any event that has a time.
fn wrong(reporting: &str, about: &str, note: &str) -> Vec<Value> {
    let long = "x".repeat(129);
    vec![
        json!({}),
        json!({reporting: null, "reportingInstance": null, "action": null, "reason": null}),
        json!({reporting: "a b", "reportingInstance": long, "action": long, "reason": long, note: "x".repeat(1025)}),
        json!({about: {"namespace": null}}),
        json!({about: {"namespace": "other"}}),
        json!({about: null}),
        json!({"related": {"kind": "Pod", "name": "b"}}),
    ]
}

#[test]
fn real_core_events_are_the_same() {
    let mut bench = Bench::new("v1", "Event", CORE);
    let about = json!({"kind": "Pod", "namespace": "default", "name": "a"});
    let base = json!({"metadata": {"namespace": "default"}, "involvedObject": about, "reason": "R", "type": "Normal"});
    bench.creations(&base, &[
        json!({}),
        json!({"involvedObject": null, "type": "Strange", "reason": null}),
        json!({"involvedObject": {"namespace": "other"}}),
        json!({"involvedObject": {"namespace": null}}),
        json!({"message": "m", "source": {"component": "c", "host": "h"}, "count": 3, "firstTimestamp": "2026-01-01T00:00:00Z"}),
        json!({"series": {"count": 1}}),
        json!({"series": {"lastObservedTime": TIME}}),
    ]);
    let dated =
        json!({"eventTime": TIME, "reportingComponent": "c", "reportingInstance": "i", "action": "A"});
    bench.creations(&changed(&base, &dated), &wrong("reportingComponent", "involvedObject", "message"));
    let stored = bench.create(&changed(&base, &json!({"metadata": {"name": "core"}})));
    bench.updates(
        &stored,
        Part::Whole,
        &[
            json!({"count": 2, "message": "other", "lastTimestamp": "2026-01-02T00:00:00Z"}),
            json!({"involvedObject": {"namespace": "other"}}),
            json!({"eventTime": TIME}),
        ],
    );
    bench.assert_same(17);
}

#[test]
fn real_new_events_are_the_same() {
    let mut bench = Bench::new("events.k8s.io/v1", "Event", NEW);
    let base = json!({
        "metadata": {"namespace": "default"}, "regarding": {"kind": "Pod", "namespace": "default", "name": "a"}, "note": "n",
        "eventTime": TIME, "type": "Normal", "reason": "R", "action": "A", "reportingController": "c", "reportingInstance": "i",
    });
    bench.creations(&base, &wrong("reportingController", "regarding", "note"));
    bench.creations(&base, &[
        json!({"eventTime": null}),
        json!({"type": "Strange"}),
        json!({"type": null}),
        json!({"series": {"count": 2, "lastObservedTime": TIME}}),
        json!({"series": {"count": 1, "lastObservedTime": TIME}}),
        json!({"deprecatedCount": 1, "deprecatedSource": {"host": "h"}, "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": "2026-01-01T00:00:00Z"}),
    ]);
    let stored = bench.create(&changed(&base, &json!({"metadata": {"name": "new"}})));
    bench.updates(&stored, Part::Whole, &[
        json!({}),
        json!({"series": {"count": 2, "lastObservedTime": TIME}}),
        json!({"series": {"count": 0, "lastObservedTime": TIME}}),
        json!({"regarding": {"uid": "1", "fieldPath": "x"}}),
        json!({"reason": "Other", "note": null, "type": "Warning", "action": "B"}),
        json!({"deprecatedSource": {"component": "c"}, "deprecatedCount": 3}),
        json!({"deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "eventTime": "2026-01-01T00:00:00.000001Z"}),
        json!({"related": {"kind": "Pod", "name": "b"}}),
        json!({"reportingController": "d", "reportingInstance": "j"}),
    ]);
    bench.assert_same(22);
}

#[test]
fn real_events_are_read_the_same_in_both_groups() {
    let (core, new) = (Bench::new("v1", "Event", CORE), Bench::new("events.k8s.io/v1", "Event", NEW));
    let about = json!({"kind": "Pod", "namespace": "default", "name": "a"});
    let all = [
        json!({"involvedObject": about}),
        json!({"involvedObject": about, "message": "m", "source": {"component": "c"}, "count": 2, "type": "Normal",
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:01Z", "related": about}),
        json!({"involvedObject": about, "eventTime": TIME, "reportingComponent": "c", "reportingInstance": "i", "action": "A",
            "reason": "R", "series": {"count": 3, "lastObservedTime": TIME}}),
        json!({"involvedObject": about, "series": {"count": 3}}),
        json!({"involvedObject": about, "series": {}}),
    ];
    for (index, event) in all.iter().enumerate() {
        let name = format!("both-{index}");
        let in_core = core.create(&changed(&json!({"metadata": {"name": name}}), event));
        let in_new = new.ask("GET", &format!("{NEW}/{name}"), None).body;
        let (mut to_new, mut to_core) = (in_core.clone(), in_new.clone());
        new.ours().revive(&mut to_new, false);
        assert_eq!(bare(to_new), bare(in_new));
        new.ours().to_stored(&mut to_core);
        assert_eq!(bare(to_core), bare(in_core));
    }
}

/// An event without what must differ.
fn bare(mut event: Value) -> Value {
    event
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !["metadata", "apiVersion", "kind"].contains(&name.as_str()));
    event
}
