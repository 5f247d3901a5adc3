//! Claims, volumes, and nodes.

use serde_json::{Value, json};

use crate::compare::{change, compare, create, create_loosely};
use crate::server::{Sides, Stays};

fn claim() -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "claim"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    })
}

fn class(name: &str, grows: bool, is_default: bool) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "example.org/none",
        "metadata": {"name": name, "annotations": {
            "storageclass.kubernetes.io/is-default-class": is_default.to_string()}},
        "allowVolumeExpansion": grows,
    })
}

#[tokio::test]
async fn claims() {
    let sides = Sides::new().await;
    let classes = sides.of(&class("a", true, true));
    for classes in &classes {
        classes.create(&class("grows", true, false), Stays::Yes).await.unwrap();
        classes.create(&class("stays", false, false), Stays::Yes).await.unwrap();
    }
    let creations = vec![
        create("minimal", json!({})),
        create("no modes", json!({"/spec/accessModes": null})),
        create("unknown mode", json!({"/spec/accessModes": ["ReadSometimes"]})),
        create("one pod and others", json!({"/spec/accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]})),
        create("no size", json!({"/spec/resources": null})),
        create("size 0", json!({"/spec/resources/requests/storage": "0"})),
        create("negative size", json!({"/spec/resources/requests/storage": "-1Gi"})),
        create("wrong class", json!({"/spec/storageClassName": "A_b"})),
        create("no class", json!({"/spec/storageClassName": ""})),
        create("a class", json!({"/spec/storageClassName": "grows"})),
        create("block", json!({"/spec/volumeMode": "Block"})),
        create("unknown volume mode", json!({"/spec/volumeMode": "Tape"})),
        create("selector", json!({"/spec/selector": {"matchLabels": {"a": "b c"}}})),
        create("finalizer of its own", json!({"/metadata/finalizers": ["example.org/a"]})),
        create("source", json!({"/spec/dataSource": {"kind": "PersistentVolumeClaim", "name": "x"}})),
        create(
            "source of another kind",
            json!({"/spec/dataSource": {"apiGroup": "a.b", "kind": "C", "name": "x"}}),
        ),
        create(
            "source by reference",
            json!({"/spec/dataSourceRef": {"apiGroup": "a.b", "kind": "C", "name": "x"}}),
        ),
    ];
    let bound = json!({"/status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}});
    let of_class = |name: &str| json!({"/spec/storageClassName": name});
    let grow = json!({"/spec/resources/requests/storage": "2Gi"});
    let shrink = json!({"/spec/resources/requests/storage": "512Mi"});
    let changes = vec![
        change("nothing", json!({})),
        change("label", json!({"/metadata/labels": {"a": "b"}})),
        change("grow unbound", grow.clone()).loosely(),
        change("grow without class", grow.clone()).with_status(bound.clone()).before(of_class("")),
        change("grow", grow.clone()).with_status(bound.clone()).before(of_class("grows")),
        change("grow where it cannot", grow).with_status(bound.clone()).before(of_class("stays")),
        change("shrink", shrink.clone()).with_status(bound.clone()).before(of_class("grows")),
        change("shrink unbound", shrink).loosely(),
        change("modes", json!({"/spec/accessModes": ["ReadWriteMany"]})).loosely(),
        change("volume", json!({"/spec/volumeName": "v"})),
        change("volume mode", json!({"/spec/volumeMode": "Block"})).loosely(),
        change("class", of_class("stays")).before(of_class("grows")).loosely(),
        change("class at last", of_class("stays")),
        change("phase", json!({"/status/phase": "Lost"})).of_status(),
    ];
    compare(&sides, &claim(), creations, changes).await;

    for (classes, claims) in classes.iter().zip(sides.of(&claim())) {
        classes.create(&class("default-b", true, true), Stays::Yes).await.unwrap();
        let mut tries = 0;
        // The real server learns of a new class a moment later.
        while claims.create(&claim(), Stays::No).await.unwrap()["spec"]["storageClassName"] != "default-b" {
            tries += 1;
            assert!(tries < 1000, "the default class is not used");
        }
        for name in ["grows", "stays", "default-b"] {
            classes.delete(name, "").await.unwrap();
        }
    }
}

#[tokio::test]
async fn volumes() {
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "volume"},
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}},
    });
    let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}});
    let creations = vec![
        create("minimal", json!({})),
        create(
            "local",
            json!({"/spec/hostPath": null, "/spec/local": {"path": "/d"}, "/spec/nodeAffinity": affinity}),
        ),
        create("local anywhere", json!({"/spec/hostPath": null, "/spec/local": {"path": "/d"}})),
        create("no source", json!({"/spec/hostPath": null})),
        create("two sources", json!({"/spec/local": {"path": "/d"}})),
        create("no path", json!({"/spec/hostPath/path": ""})),
        create("no modes", json!({"/spec/accessModes": null})),
        create("unknown mode", json!({"/spec/accessModes": ["X"]})),
        create_loosely("no capacity", json!({"/spec/capacity": null})),
        create("no size", json!({"/spec/capacity/storage": "0"})),
        create("unknown policy", json!({"/spec/persistentVolumeReclaimPolicy": "Burn"})),
        create("wrong class", json!({"/spec/storageClassName": "A_b"})),
        create("unknown volume mode", json!({"/spec/volumeMode": "Tape"})),
        create("affinity to nothing", json!({"/spec/nodeAffinity": {"required": {"nodeSelectorTerms": []}}})),
    ];
    let changes = vec![
        change("nothing", json!({})),
        change("policy", json!({"/spec/persistentVolumeReclaimPolicy": "Delete"})),
        change("capacity", json!({"/spec/capacity/storage": "2Gi"})),
        change("source", json!({"/spec/hostPath/path": "/other"})).loosely(),
        change("volume mode", json!({"/spec/volumeMode": "Block"})),
        change(
            "claim",
            json!({"/spec/claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "a"}}),
        ),
        change(
            "affinity",
            json!({"/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key": "b"}),
        )
        .before(json!({"/spec/nodeAffinity": affinity}))
        .loosely(),
        change("phase", json!({"/status/phase": "Available"})).of_status(),
    ];
    compare(&Sides::new().await, &volume, creations, changes).await;
}

#[tokio::test]
async fn nodes() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}, "spec": {}});
    let creations = vec![
        create("minimal", json!({})),
        create("taint", json!({"/spec/taints": [{"key": "a", "effect": "NoExecute"}]})),
        create(
            "not ready",
            json!({"/spec/taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}),
        ),
        create("wrong effect", json!({"/spec/taints": [{"key": "a", "effect": "Explode"}]})),
        create("no effect", json!({"/spec/taints": [{"key": "a"}]})),
        create("wrong key", json!({"/spec/taints": [{"key": "a b", "effect": "NoExecute", "value": "c d"}]})),
        create_loosely(
            "taint twice",
            json!({"/spec/taints": [{"key": "a", "effect": "NoExecute"}, {"key": "a", "effect": "NoExecute", "value": "b"}]}),
        ),
        create("capacity", json!({"/status": {"capacity": {"cpu": "4", "memory": "1Gi"}}})),
        create("not schedulable", json!({"/spec/unschedulable": true})),
    ];
    let changes = vec![
        change("taints", json!({"/spec/taints": [{"key": "a", "effect": "NoExecute"}]})),
        change("no taints", json!({"/spec/taints": null})),
        change("provider", json!({"/spec/providerID": "a"})),
        change("other provider", json!({"/spec/providerID": "b"})).before(json!({"/spec/providerID": "a"})),
        change("other range", json!({"/spec/podCIDR": "10.2.0.0/24", "/spec/podCIDRs": ["10.2.0.0/24"]}))
            .before(json!({"/spec/podCIDR": "10.1.0.0/24", "/spec/podCIDRs": ["10.1.0.0/24"]})),
        change("status", json!({"/status/capacity": {"cpu": "4"}})).of_status(),
        change("conditions", json!({"/status/conditions": [{"type": "Ready", "status": "True"}]}))
            .of_status()
            .loosely(),
    ];
    compare(&Sides::new().await, &node, creations, changes).await;
}
