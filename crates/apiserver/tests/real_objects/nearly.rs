//! Objects that say everything, with each of their parts changed in each way.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::{Bench, changed};

/// Changes of one object that are tried, spread over all of them, so that large ones do not take all the time.
const MAX_CHANGES: usize = 300;

/// Every path in a value but those that name the object.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                if !["/metadata/name", "/metadata", "/apiVersion", "/kind"].contains(&path.as_str()) {
                    found.push(path.clone());
                }
                paths(field, &path, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                found.push(format!("{path}/{index}"));
                paths(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Values that may be put in the place of another.
fn replacements(value: &Value) -> Vec<Value> {
    let mut all =
        vec![json!("x"), json!(""), json!(7), json!(-1), json!(true), Value::Null, json!([]), json!({})];
    match value {
        Value::String(text) => {
            all.extend([
                json!(format!("{text} ")),
                json!(text.repeat(80)),
                json!(text.to_uppercase()),
                json!(format!("{text}/a")),
            ]);
        }
        Value::Number(_) => all.extend([json!(0), json!(100_000), json!(2.5)]),
        Value::Bool(flag) => all.push(json!(!flag)),
        Value::Array(items) => {
            let mut twice = items.clone();
            twice.extend(items.clone());
            all.push(json!(twice));
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("nobodyKnowsThis".to_owned(), json!(1));
            all.push(Value::Object(more));
        }
        Value::Null => {}
    }
    all
}

/// The object with each of its parts changed in each way.
fn changes(object: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    paths(object, "", &mut found);
    let mut changed = vec![object.clone()];
    for path in found {
        for replacement in replacements(object.pointer(&path).unwrap()) {
            let mut object = object.clone();
            *object.pointer_mut(&path).unwrap() = replacement;
            changed.push(object);
        }
    }
    let step = changed.len().div_ceil(MAX_CHANGES);
    changed.into_iter().step_by(step).collect()
}

/// The real server shows in a few places whether something was there and empty, or was not there; nothing follows from it.
fn is_empty_where_it_shows(object: &Value) -> bool {
    let empty_list = |path: &str| object.pointer(path) == Some(&json!([]));
    empty_list("/spec/versions")
        || empty_list("/status/conditions")
        || object.pointer("/parameters/a") == Some(&Value::Null)
}

fn compare(api_version: &'static str, kind: &'static str, path: &'static str, rest: &Value) {
    let mut bench = Bench::new(api_version, kind, path).in_any_order();
    let object = bench.object(rest);
    let mut all = changes(&object);
    all.retain(|object| !is_empty_where_it_shows(object));
    bench.creations(&json!({}), &all);
    let name = match kind {
        "CustomResourceDefinition" => rest["metadata"]["name"].clone(),
        _ => format!("nearly-{}", api_version.replace('/', "-")).into(),
    };
    let mut stored = bench.create(&changed(rest, &json!({"metadata": {"name": name, "finalizers": null}})));
    if kind == "CustomResourceDefinition" {
        stored = crate::crds::settled(&bench, stored["metadata"]["name"].as_str().unwrap());
    }
    let mut changes = changes(&stored);
    changes.retain(|change| change["metadata"] == stored["metadata"] && !is_empty_where_it_shows(change));
    bench.updates(&stored, Part::Whole, &changes);
    if stored.get("status").is_some() {
        bench.updates(&stored, Part::Status, &changes);
    }
    bench.assert_same(all.len() + changes.len());
}

#[test]
fn real_data_is_nearly_right_in_the_same_way() {
    let meta = json!({"labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["e/f"]});
    let rest = json!({"metadata": meta, "data": {"a": "b"}, "binaryData": {"c": "eA=="}, "immutable": false});
    compare("v1", "ConfigMap", "/api/v1/namespaces/default/configmaps", &rest);
    let rest = json!({"data": {"a": "eA=="}, "stringData": {"b": "c"}, "type": "t", "immutable": false});
    compare("v1", "Secret", "/api/v1/namespaces/default/secrets", &rest);
    let rest = json!({
        "secrets": [{"name": "a"}], "imagePullSecrets": [{"name": "b"}], "automountServiceAccountToken": true,
    });
    compare("v1", "ServiceAccount", "/api/v1/namespaces/default/serviceaccounts", &rest);
    compare(
        "v1",
        "Namespace",
        "/api/v1/namespaces",
        &json!({"spec": {"finalizers": ["a/b"]}, "status": {"phase": "Active"}}),
    );
}

#[test]
fn real_events_are_nearly_right_in_the_same_way() {
    let about = json!({"kind": "Pod", "namespace": "default", "name": "a", "uid": "u", "apiVersion": "v1", "fieldPath": "f"});
    let time = "2026-01-01T00:00:00.000000Z";
    let rest = json!({
        "involvedObject": about, "related": about, "reason": "R", "message": "m", "source": {"component": "c", "host": "h"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1, "type": "Normal",
        "eventTime": time, "series": {"count": 2, "lastObservedTime": time}, "action": "A", "reportingComponent": "c",
        "reportingInstance": "i",
    });
    compare("v1", "Event", "/api/v1/namespaces/default/events", &rest);
    let rest = json!({
        "regarding": about, "related": about, "reason": "R", "note": "m", "type": "Normal", "eventTime": time,
        "series": {"count": 2, "lastObservedTime": time}, "action": "A", "reportingController": "c", "reportingInstance": "i",
    });
    compare("events.k8s.io/v1", "Event", "/apis/events.k8s.io/v1/namespaces/default/events", &rest);
    let rest = json!({"spec": {
        "holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 1, "renewTime": time, "acquireTime": time,
    }});
    compare(
        "coordination.k8s.io/v1",
        "Lease",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        &rest,
    );
}

#[test]
fn real_endpoints_are_nearly_right_in_the_same_way() {
    let target = json!({"kind": "Pod", "name": "a", "namespace": "default"});
    let address = json!({"ip": "1.2.3.4", "hostname": "h", "nodeName": "n", "targetRef": target});
    let rest = json!({"subsets": [{
        "addresses": [address], "notReadyAddresses": [{"ip": "2001:db8::1"}],
        "ports": [{"name": "a", "port": 80, "protocol": "TCP", "appProtocol": "http"}],
    }]});
    compare("v1", "Endpoints", "/api/v1/namespaces/default/endpoints", &rest);
    let rest = json!({
        "addressType": "IPv4", "ports": [{"name": "a", "port": 80, "protocol": "TCP", "appProtocol": "http"}],
        "endpoints": [{
            "addresses": ["1.2.3.4"], "conditions": {"ready": true, "serving": true}, "hostname": "h", "nodeName": "n",
            "zone": "z", "targetRef": target, "hints": {"forZones": [{"name": "z"}], "forNodes": [{"name": "n"}]},
        }],
    });
    compare(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        &rest,
    );
}

#[test]
fn real_policies_are_nearly_right_in_the_same_way() {
    let rest = json!({"spec": {
        "minAvailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": {
            "matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
        },
    }});
    let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    compare("policy/v1", "PodDisruptionBudget", path, &rest);
    let rest = json!({
        "provisioner": "example.com/a", "parameters": {"a": "b"}, "reclaimPolicy": "Retain", "mountOptions": ["a"],
        "allowVolumeExpansion": true, "volumeBindingMode": "Immediate",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}],
    });
    compare("storage.k8s.io/v1", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses", &rest);
}

#[test]
fn real_roles_are_nearly_right_in_the_same_way() {
    let version = "rbac.authorization.k8s.io/v1";
    let rule = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]});
    compare(
        version,
        "Role",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
        &json!({"rules": [rule]}),
    );
    let rest = json!({
        "rules": [rule, {"verbs": ["get"], "nonResourceURLs": ["/a"]}],
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    });
    compare(version, "ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles", &rest);
    let subjects =
        json!([{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "a", "namespace": "b"}]);
    let rest = json!({"subjects": subjects, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}});
    compare(
        version,
        "RoleBinding",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        &rest,
    );
    compare(version, "ClusterRoleBinding", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &rest);
}

#[test]
fn real_crds_are_nearly_right_in_the_same_way() {
    let schema = |name: &str| json!({"openAPIV3Schema": {"type": "object", "description": "d", "properties": {name: {"type": "string"}}}});
    let rest = json!({
        "metadata": {"name": "probes.nearly.example.com"},
        "spec": {
            "group": "nearly.example.com", "scope": "Namespaced", "preserveUnknownFields": false,
            "names": {"plural": "probes", "singular": "probe", "kind": "Probe", "listKind": "ProbeList", "shortNames": ["p"], "categories": ["all"]},
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/c", "port": 443}},
            }},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema("a"), "deprecated": true, "deprecationWarning": "w",
                    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}},
                    "additionalPrinterColumns": [{"name": "A", "type": "string", "format": "date", "priority": 1, "jsonPath": ".a"}],
                    "selectableFields": [{"jsonPath": ".a"}]},
                {"name": "v2", "served": true, "storage": false, "schema": schema("b")},
            ],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    compare("apiextensions.k8s.io/v1", "CustomResourceDefinition", path, &rest);
}
