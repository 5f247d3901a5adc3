//! The lives of definitions and namespaces on both servers, from beginning to end.

use std::time::{Duration, Instant};

use muster_test_control_plane::eventually;
use serde_json::{Value, json};

use crate::bench::Bench;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long a server may take to do what follows from a request.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// What is asked, and what the answer is waited to say: a JSON pointer and a value.
type Step = (&'static str, String, Option<Value>, Option<(&'static str, Value)>);

/// An answer without what must differ.
fn bare(value: &Value) -> Value {
    const DIFFERENT: [&str; 7] = [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "time",
        "lastTransitionTime",
        "selfLink",
    ];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !DIFFERENT.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), bare(value))).collect()
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(bare).collect();
            if items.iter().any(|item| item.get("manager").is_some()) {
                // They are in the order of their times.
                items.sort_by_key(Value::to_string);
            }
            items.into()
        }
        other => other.clone(),
    }
}

fn tell(bench: &Bench, steps: &[Step]) -> Vec<Value> {
    let answer = |(method, path, body, awaited): &Step| {
        let asks = || {
            let said = bench.ask(method, path, body.as_ref()).body;
            match awaited {
                Some((pointer, value)) if said.pointer(pointer) != Some(value) => Err(said),
                _ => Ok(bare(&said)),
            }
        };
        eventually(Instant::now() + SETTLED_WITHIN, asks).unwrap()
    };
    steps.iter().map(answer).collect()
}

fn compare(steps: &[Step]) {
    let bench = |embedded: bool| {
        let new = if embedded { Bench::embedded } else { Bench::new };
        new("apiextensions.k8s.io/v1", "CustomResourceDefinition", DEFINITIONS)
    };
    let (ours, theirs) = (tell(&bench(true), steps), tell(&bench(false), steps));
    for ((step, ours), theirs) in steps.iter().zip(ours).zip(theirs) {
        assert_eq!(ours, theirs, "{} {}", step.0, step.1);
    }
}

#[test]
fn real_definitions_live_the_same() {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "lives.told.example.com"},
        "spec": {
            "group": "told.example.com", "scope": "Cluster", "names": {"plural": "lives", "kind": "Life", "shortNames": ["l"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let one = format!("{DEFINITIONS}/lives.told.example.com");
    let lives = "/apis/told.example.com/v1/lives";
    let life = json!({"apiVersion": "told.example.com/v1", "kind": "Life", "metadata": {"name": "a", "finalizers": ["a/b"]}});
    let is = |pointer, value: Value| Some((pointer, value));
    let reason = "/status/conditions/2/reason";
    compare(&[
        ("POST", DEFINITIONS.to_owned(), Some(crd), None),
        ("GET", one.clone(), None, is("/status/conditions/1/status", json!("True"))),
        ("GET", lives.to_owned(), None, is("/kind", json!("LifeList"))),
        ("PATCH", one.clone(), Some(json!({"spec": {"names": {"shortNames": ["li"]}}})), None),
        ("GET", one.clone(), None, is("/status/acceptedNames/shortNames", json!(["li"]))),
        ("POST", lives.to_owned(), Some(life), None),
        ("DELETE", one.clone(), None, None),
        ("GET", one.clone(), None, is(reason, json!("InstanceDeletionInProgress"))),
        ("DELETE", one.clone(), None, None),
        // The condition comes before the deed.
        ("GET", format!("{lives}/a"), None, is("/metadata/deletionGracePeriodSeconds", json!(0))),
        ("PATCH", format!("{lives}/a"), Some(json!({"metadata": {"finalizers": null}})), None),
        ("GET", one, None, is("/code", json!(404))),
    ]);
}

#[test]
fn real_namespaces_live_the_same() {
    let spaces = "/api/v1/namespaces";
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "told"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}});
    let finalize = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "told"}, "spec": {}});
    compare(&[
        ("POST", spaces.to_owned(), Some(space), None),
        ("POST", format!("{spaces}/told/configmaps"), Some(map.clone()), None),
        (
            "PATCH",
            format!("{spaces}/told"),
            Some(json!({"metadata": {"labels": {"a": "b"}}, "spec": {"finalizers": ["x/y"]}})),
            None,
        ),
        ("DELETE", format!("{spaces}/default"), None, None),
        ("DELETE", format!("{spaces}/told?dryRun=All"), None, None),
        ("DELETE", format!("{spaces}/told"), None, None),
        ("GET", format!("{spaces}/told"), None, Some(("/status/phase", json!("Terminating")))),
        (
            "POST",
            format!("{spaces}/told/configmaps"),
            Some(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})),
            None,
        ),
        ("DELETE", format!("{spaces}/told/configmaps/a"), None, None),
        ("PUT", format!("{spaces}/told/finalize"), Some(finalize), None),
        ("GET", format!("{spaces}/told"), None, Some(("/code", json!(404)))),
    ]);
}
