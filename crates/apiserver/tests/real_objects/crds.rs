//! `CustomResourceDefinition`.

use muster_apiserver::kind::objects;
use muster_apiserver::lifecycle::Part;
use muster_test_control_plane::eventually;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::bench::{Bench, changed};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long the controllers of the real server may take.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

fn bench() -> Bench {
    Bench::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", PATH)
}

fn version(name: &str, storage: bool, rest: &Value) -> Value {
    let version = json!({
        "name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}},
    });
    changed(&version, rest)
}

fn crd(plural: &str, kind: &str) -> Value {
    json!({
        "metadata": {"name": format!("{plural}.objects.example.com")},
        "spec": {
            "group": "objects.example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [version("v1", true, &json!({}))],
        },
    })
}

/// A change of the versions.
fn versions(all: &[Value]) -> Value {
    json!({"spec": {"versions": all}})
}

/// A change of the only version.
fn only(rest: &Value) -> Value {
    versions(&[version("v1", true, rest)])
}

fn schema(schema: &Value) -> Value {
    json!({"schema": {"openAPIV3Schema": schema}})
}

#[test]
fn real_crds_are_named_the_same() {
    let mut bench = bench();
    let names = |rest: Value| json!({"spec": {"names": rest}});
    bench.creations(&crd("probes", "Probe"), &[
        json!({}),
        names(json!({"singular": "one", "listKind": "Many", "shortNames": ["p"], "categories": ["all"]})),
        names(json!({"kind": null})),
        names(json!({"plural": null})),
        names(json!({"plural": "Probes"})),
        names(json!({"singular": "1a", "shortNames": ["a.b", "ok", ""], "categories": ["A"]})),
        names(json!({"kind": "Pro be", "listKind": "Pro.be"})),
        names(json!({"listKind": "Probe"})),
        names(json!({"singular": "x".repeat(64)})),
        json!({"metadata": {"name": "others.objects.example.com"}}),
        json!({"spec": {"group": null}}),
        json!({"spec": {"group": "objects"}, "metadata": {"name": "probes.objects"}}),
        json!({"spec": {"group": "Objects.x"}}),
        json!({"spec": {"scope": null}}),
        json!({"spec": {"scope": "World"}}),
        json!({"spec": {"scope": "Cluster"}}),
        json!({"spec": {"preserveUnknownFields": true}}),
        json!({"status": {"storedVersions": ["v9"], "acceptedNames": {"plural": "x", "kind": "y"}, "conditions": []}}),
    ]);
    let group = |name: &str| json!({"spec": {"group": name}, "metadata": {"name": format!("probes.{name}")}});
    let approved = |text: &str| {
        changed(
            &group("x.k8s.io"),
            &json!({"metadata": {"annotations": {"api-approved.kubernetes.io": text}}}),
        )
    };
    bench.creations(
        &crd("probes", "Probe"),
        &[
            group("x.k8s.io"),
            group("kubernetes.io"),
            group("notk8s.io"),
            approved("https://example.com/1"),
            approved("unapproved, a test"),
            approved("why not"),
            approved("https://"),
        ],
    );
    bench.assert_same(25);
}

#[test]
fn real_versions_of_crds_are_accepted_and_refused_the_same() {
    let mut bench = bench();
    let (v1, v2) = (version("v1", true, &json!({})), version("v2", false, &json!({})));
    let with = |one: Value, rest: &Value| changed(&one, rest);
    let text = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}});
    let wide = json!({
        "type": "object", "description": "d <&>", "required": ["spec"], "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"spec": {
            "type": "object", "properties": {
                "l": {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": ["a", "b"]}, "x-kubernetes-list-type": "set"},
                "m": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0.5, "maximum": 2}},
                "n": {"type": "string", "nullable": true, "default": "x", "maxLength": 9,
                    "x-kubernetes-validations": [{"rule": "self != ''", "message": "m"}]},
            },
        }},
    });
    bench.creations(&crd("probes", "Probe"), &[
        json!({"spec": {"versions": null}}),
        versions(&[v1.clone(), v2.clone()]),
        versions(&[v1.clone(), v1.clone()]),
        versions(std::slice::from_ref(&v2)),
        versions(&[v1.clone(), with(v2.clone(), &json!({"storage": true}))]),
        versions(&[v1.clone(), with(v2.clone(), &json!({"storage": true, "schema": {"openAPIV3Schema": text}}))]),
        versions(&[with(v1.clone(), &schema(&wide)), with(v2.clone(), &json!({"storage": true}))]),
        versions(&[v1.clone(), with(v2.clone(), &json!({"schema": {"openAPIV3Schema": text}}))]),
        versions(&[v1.clone(), with(v2.clone(), &json!({"schema": null}))]),
        versions(&[v1.clone(), with(v2.clone(), &json!({"schema": {"openAPIV3Schema": {"type": "string"}}}))]),
        versions(&[with(v1.clone(), &json!({"name": "V1"}))]),
        versions(&[v1.clone(), with(v2.clone(), &json!({"name": "2"}))]),
        versions(&[with(v1.clone(), &json!({"served": false}))]),
        only(&json!({"schema": null})),
        only(&json!({"schema": {"openAPIV3Schema": null}})),
        only(&schema(&json!({"type": "string"}))),
        only(&schema(&json!({"type": "object", "nullable": true}))),
        only(&json!({"deprecated": true})),
        only(&json!({"deprecated": true, "deprecationWarning": "old"})),
        only(&json!({"deprecationWarning": "old"})),
        only(&json!({"deprecated": true, "deprecationWarning": ""})),
        only(&json!({"deprecated": true, "deprecationWarning": "x".repeat(257)})),
        only(&json!({"deprecated": true, "deprecationWarning": "a\nb"})),
        only(&schema(&json!({"type": "object", "properties": {"a": {"type": "string", "format": "quaint"}, "b": {"type": "integer", "format": "uint16"}}}))),
    ]);
    bench.assert_same(24);
}

#[test]
fn real_subresources_of_crds_are_accepted_and_refused_the_same() {
    let mut bench = bench();
    let scale = |rest: Value| {
        let scale = json!({"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"});
        json!({"subresources": {"scale": changed(&scale, &rest)}})
    };
    let column = |rest: Value| {
        let column = json!({"name": "A", "type": "string", "jsonPath": ".spec.a"});
        json!({"additionalPrinterColumns": [changed(&column, &rest)]})
    };
    let fields = json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
        "spec": {"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "boolean"}, "i": {"type": "integer"}, "o": {"type": "object"}, "n": {"type": "number"},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
    }});
    let selectable = |paths: &[&str]| {
        let paths: Vec<Value> = paths.iter().map(|path| json!({"jsonPath": path})).collect();
        changed(&schema(&fields), &json!({"selectableFields": paths}))
    };
    let strict = json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "string"}}});
    let (first, second) = (version("v1", true, &column(json!({}))), version("v2", false, &json!({})));
    bench.creations(&crd("probes", "Probe"), &[
        only(&json!({"subresources": {}})),
        only(&json!({"subresources": {"status": {}}})),
        only(&changed(&json!({"subresources": {"status": {}}}), &schema(&strict))),
        only(&changed(&json!({"subresources": {"status": {}}}), &schema(&json!({"type": "string"})))),
        only(&scale(json!({}))),
        only(&scale(json!({"labelSelectorPath": ".status.s"}))),
        only(&scale(json!({"specReplicasPath": null, "statusReplicasPath": ""}))),
        only(&scale(json!({"specReplicasPath": "spec.n", "statusReplicasPath": ".spec.n", "labelSelectorPath": ".metadata.s"}))),
        only(&scale(json!({"specReplicasPath": ".status.n", "labelSelectorPath": "s"}))),
        only(&column(json!({}))),
        only(&column(json!({"format": "date-time", "description": "d", "priority": 1}))),
        only(&column(json!({"name": null, "type": null, "jsonPath": null}))),
        only(&column(json!({"type": "text", "format": "long", "jsonPath": "a"}))),
        versions(&[first.clone(), second.clone()]),
        versions(&[changed(&first, &column(json!({"type": "text"}))), second.clone()]),
        versions(&[changed(&first, &scale(json!({"specReplicasPath": "x"}))), second]),
        only(&selectable(&[".spec.a", ".spec.b", ".spec.i"])),
        only(&selectable(&["", ".", "spec", ".spec.x", ".spec.o", ".spec.n", ".metadata.name", ".spec.a", ".spec.a", ".spec['a']"])),
        only(&selectable(&[".spec.m.k", ".spec.a.b", ".spec."])),
        only(&json!({"selectableFields": [{"jsonPath": ".spec.a"}], "schema": null})),
        versions(&[version("v1", true, &selectable(&[".spec.a"])), version("v2", false, &schema(&fields))]),
        versions(&[version("v1", true, &selectable(&[".spec.z"])), version("v2", false, &json!({}))]),
    ]);
    bench.assert_same(22);
}

#[test]
fn real_conversions_of_crds_are_accepted_and_refused_the_same() {
    let mut bench = bench();
    let conversion = |rest: Value| json!({"spec": {"conversion": rest}});
    let webhook = |client: Value| {
        conversion(
            json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}),
        )
    };
    let reviews = |versions: &[&str]| {
        conversion(
            json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": versions}}),
        )
    };
    let service =
        |rest: Value| webhook(json!({"service": changed(&json!({"name": "a", "namespace": "b"}), &rest)}));
    bench.creations(&crd("probes", "Probe"), &[
        conversion(json!({"strategy": "None"})),
        conversion(json!({"strategy": "Magic"})),
        conversion(json!({})),
        conversion(json!({"strategy": "Webhook"})),
        conversion(json!({"strategy": "None", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}})),
        webhook(json!({"url": "https://a.b/c"})),
        webhook(json!({"url": "http://a"})),
        webhook(json!({"url": "a"})),
        webhook(json!({"url": "https://u:p@a?q#f"})),
        webhook(json!({"url": "https://a", "service": {"name": "a", "namespace": "b"}})),
        webhook(json!({})),
        service(json!({})),
        service(json!({"name": null})),
        service(json!({"namespace": null})),
        service(json!({"port": 0, "path": "a"})),
        service(json!({"port": 8443, "path": "/a//b_c/"})),
        service(json!({"path": "//"})),
        reviews(&["v1beta1", "x"]),
        reviews(&["x", "V", "x"]),
        reviews(&[]),
    ]);
    bench.assert_same(20);
}

/// What the controllers of the real server make of a CRD, without times.
pub(crate) fn settled(bench: &Bench, name: &str) -> Value {
    let asks = || {
        let stored = bench.ask("GET", &format!("{PATH}/{name}"), None).body;
        let conditions = stored["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let done = conditions.iter().any(|it| {
            it["reason"] == "InitialNamesAccepted" || it["status"] == "False" && it["type"] == "NamesAccepted"
        });
        if done { Ok(stored) } else { Err(stored) }
    };
    eventually(Instant::now() + SETTLED_WITHIN, asks).unwrap()
}

fn status_without_times(crd: &Value) -> Value {
    let mut status = crd["status"].clone();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        condition.as_object_mut().unwrap().remove("lastTransitionTime");
    }
    status
}

#[test]
fn real_crds_get_the_same_status() {
    let bench = bench();
    let names = |rest: Value| json!({"spec": {"names": rest}});
    let all = [
        (crd("firsts", "First"), names(json!({"shortNames": ["f", "g"], "categories": ["all"]}))),
        (crd("seconds", "First"), names(json!({"shortNames": ["f", "g", "h"]}))),
        (crd("thirds", "Third"), names(json!({"singular": "f", "categories": ["c"]}))),
        (crd("fourths", "FirstList"), names(json!({"shortNames": ["f"]}))),
    ];
    let mut known: Vec<Value> = Vec::new();
    for (base, rest) in all {
        let created = bench.create(&changed(&base, &rest));
        let theirs = settled(&bench, created["metadata"]["name"].as_str().unwrap());
        let ours = objects::established(&created, &known, "now").unwrap();
        assert_eq!(status_without_times(&ours), status_without_times(&theirs), "{created}");
        known.push(theirs);
    }
}

#[test]
fn real_crds_keep_what_must_not_change() {
    let mut bench = bench();
    let created = bench.create(&crd("kepts", "Kept"));
    let stored = settled(&bench, created["metadata"]["name"].as_str().unwrap());
    let text =
        schema(&json!({"type": "object", "properties": {"a": {"type": "string", "format": "quaint"}}}));
    bench.updates(
        &stored,
        Part::Whole,
        &[
            json!({}),
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"spec": {"scope": "Cluster"}}),
            json!({"spec": {"group": "other.example.com"}}),
            json!({"spec": {"names": {"plural": "others"}}}),
            json!({"spec": {"names": {"kind": "Other"}}}),
            json!({"spec": {"names": {"singular": "other", "listKind": "Others", "shortNames": ["o"]}}}),
            json!({"spec": {"preserveUnknownFields": true}}),
            json!({"spec": {"conversion": null}}),
            json!({"status": null}),
            only(&text),
            versions(&[version("v2", true, &json!({}))]),
            versions(&[version("v1", false, &json!({})), version("v2", true, &json!({}))]),
            versions(&[version("v1", false, &json!({})), version("v2", true, &text)]),
        ],
    );
    bench.updates(
        &stored,
        Part::Status,
        &[
            json!({}),
            json!({"status": {"storedVersions": null}}),
            json!({"status": {"conditions": null, "acceptedNames": {"kind": "a b", "shortNames": ["."]}}}),
            json!({"status": null}),
        ],
    );
    bench.assert_same(18);
}

#[test]
fn real_crds_end_the_same() {
    let bench = bench();
    let created = bench.create(&crd("endings", "Ending"));
    let name = created["metadata"]["name"].as_str().unwrap();
    let stored = settled(&bench, name);
    let theirs = bench.ask("DELETE", &format!("{PATH}/{name}?dryRun=All"), None).body;
    let ours = objects::marked(&stored, "now");
    assert_eq!(status_without_times(&ours), status_without_times(&theirs));
    for field in ["finalizers", "generation", "deletionGracePeriodSeconds"] {
        assert_eq!(ours["metadata"].get(field), theirs["metadata"].get(field), "{field}");
    }
}
