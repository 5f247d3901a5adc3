//! Deployments, `ReplicaSet`s, `DaemonSet`s, `StatefulSet`s and `ControllerRevision`s.

use serde_json::{Value, json};

use crate::compare::{Change, Creation, Words, change, compare, create, create_loosely};
use crate::server::Sides;
use crate::template_cases;

fn controller(kind: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": kind.to_lowercase()},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            },
        },
    })
}

fn selectors() -> Vec<Creation> {
    vec![
        create("no selector", json!({"/spec/selector": null})),
        create("empty selector", json!({"/spec/selector": {}})),
        create("selector of others", json!({"/spec/selector/matchLabels": {"app": "b"}})),
        create("no labels", json!({"/spec/template/metadata": null})),
        create("wrong key", json!({"/spec/selector/matchLabels": {"a b": "c"}})),
        create("wrong value", json!({"/spec/template/metadata/labels": {"app": "a", "x": "a b"}})),
        create(
            "expressions",
            json!({"/spec/selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}}),
        ),
        create(
            "no values",
            json!({"/spec/selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}),
        ),
        create(
            "needless values",
            json!({"/spec/selector": {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]}}),
        ),
        create(
            "wrong operator",
            json!({"/spec/selector": {"matchExpressions": [{"key": "app", "operator": "Is"}]}}),
        ),
        create("restarts never", json!({"/spec/template/spec/restartPolicy": "Never"})),
        create("deadline", json!({"/spec/template/spec/activeDeadlineSeconds": 5})),
        create(
            "ephemeral container",
            json!({"/spec/template/spec/ephemeralContainers": [{"name": "e", "image": "a"}]}),
        ),
    ]
}

fn immutable() -> Vec<Change> {
    vec![
        change("nothing", json!({})),
        change("template", json!({"/spec/template/spec/containers/0/image": "b"})),
        change("template broken", json!({"/spec/template/spec/containers/0/image": null})),
        change("annotation", json!({"/metadata/annotations/a": "b"})),
    ]
}

fn other_selector() -> Value {
    json!({"/spec/selector/matchLabels/b": "c", "/spec/template/metadata/labels/b": "c"})
}

#[tokio::test]
async fn deployments() {
    let mut creations = template_cases::creations("/spec/template/spec", Words::Same);
    creations.extend(selectors());
    let rolling = |update: Value| json!({"/spec/strategy": {"rollingUpdate": update}});
    creations.extend([
        create("negative replicas", json!({"/spec/replicas": -1})),
        create("negative seconds", json!({"/spec/minReadySeconds": -1})),
        create("negative history", json!({"/spec/revisionHistoryLimit": -1})),
        create("short deadline", json!({"/spec/minReadySeconds": 5, "/spec/progressDeadlineSeconds": 5})),
        create("recreate", json!({"/spec/strategy": {"type": "Recreate"}})),
        create(
            "recreate and roll",
            json!({"/spec/strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
        ),
        create_loosely("unknown strategy", json!({"/spec/strategy": {"type": "Leap"}})),
        create("none at all", rolling(json!({"maxSurge": 0, "maxUnavailable": 0}))),
        create("too many", rolling(json!({"maxUnavailable": "101%"}))),
        create("no percent", rolling(json!({"maxUnavailable": "many", "maxSurge": "10"}))),
        create("negative surge", rolling(json!({"maxSurge": -1}))),
        create("numbers", rolling(json!({"maxSurge": 1, "maxUnavailable": "0%"}))),
    ]);
    let mut changes = immutable();
    changes.extend([
        change("selector", other_selector()),
        change("replicas", json!({"/spec/replicas": 3})),
        change("status", json!({"/status/replicas": 1})).of_status(),
        change(
            "wrong status",
            json!({"/status": {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}}),
        )
        .of_status(),
        change("negative status", json!({"/status": {"replicas": -1}})).of_status(),
    ]);
    compare(&Sides::new().await, &controller("Deployment"), creations, changes).await;
}

#[tokio::test]
async fn replica_sets() {
    let mut creations = selectors();
    creations.extend([
        create("minimal", json!({})),
        create("negative replicas", json!({"/spec/replicas": -1, "/spec/minReadySeconds": -1})),
    ]);
    let mut changes = immutable();
    changes.extend([
        change("selector", other_selector()),
        change(
            "wrong status",
            json!({"/status": {"replicas": 1, "fullyLabeledReplicas": 2, "availableReplicas": 3}}),
        )
        .of_status(),
    ]);
    compare(&Sides::new().await, &controller("ReplicaSet"), creations, changes).await;
}

#[tokio::test]
async fn daemon_sets() {
    let mut creations = selectors();
    let rolling = |update: Value| json!({"/spec/updateStrategy": {"rollingUpdate": update}});
    creations.extend([
        create("minimal", json!({})),
        create("on delete", json!({"/spec/updateStrategy": {"type": "OnDelete"}})),
        create_loosely("unknown strategy", json!({"/spec/updateStrategy": {"type": "Leap"}})),
        create("both", rolling(json!({"maxSurge": 1, "maxUnavailable": 1}))),
        create("neither", rolling(json!({"maxSurge": 0, "maxUnavailable": 0}))),
        create("too many", rolling(json!({"maxUnavailable": "101%"}))),
        create("negative", json!({"/spec/minReadySeconds": -1, "/spec/revisionHistoryLimit": -1})),
    ]);
    let mut changes = immutable();
    changes.extend([
        change("selector", other_selector()),
        change("strategy", json!({"/spec/minReadySeconds": 1})),
        change("negative status", json!({"/status/numberReady": -1})).of_status(),
    ]);
    compare(&Sides::new().await, &controller("DaemonSet"), creations, changes).await;
}

fn claim_template(spec: &Value) -> Value {
    json!([{"metadata": {"name": "data"}, "spec": spec}])
}

#[tokio::test]
async fn stateful_sets() {
    let mut creations = template_cases::creations("/spec/template/spec", Words::Same);
    creations.extend(selectors());
    let good = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mount = json!([{"name": "data", "mountPath": "/data"}]);
    creations.extend([
        create(
            "claims",
            json!({
                "/spec/volumeClaimTemplates": claim_template(&good),
                "/spec/template/spec/containers/0/volumeMounts": mount,
            }),
        ),
        create(
            "claims beside volumes",
            json!({
                "/spec/volumeClaimTemplates": claim_template(&good),
                "/spec/template/spec/volumes": [{"name": "data"}, {"name": "x", "secret": {}}],
            }),
        ),
        create("claim of nothing", json!({"/spec/volumeClaimTemplates": claim_template(&json!({}))})),
        create("mount of no claim", json!({"/spec/template/spec/containers/0/volumeMounts": mount})),
        create("service", json!({"/spec/serviceName": "db"})),
        create("wrong service", json!({"/spec/serviceName": "A_b"})),
        create("parallel", json!({"/spec/podManagementPolicy": "Parallel"})),
        create("wrong management", json!({"/spec/podManagementPolicy": "Chaos"})),
        create("on delete", json!({"/spec/updateStrategy": {"type": "OnDelete"}})),
        create_loosely(
            "on delete and roll",
            json!({"/spec/updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}),
        ),
        create(
            "partition",
            json!({"/spec/updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}),
        ),
        create("rolling alone", json!({"/spec/updateStrategy": {"type": "RollingUpdate"}})),
        create("negative partition", json!({"/spec/updateStrategy": {"rollingUpdate": {"partition": -1}}})),
        create("none unavailable", json!({"/spec/updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}})),
        create_loosely("unknown strategy", json!({"/spec/updateStrategy": {"type": "Leap"}})),
        create("retention", json!({"/spec/persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}})),
        create(
            "wrong retention",
            json!({"/spec/persistentVolumeClaimRetentionPolicy": {"whenScaled": "Burn"}}),
        ),
        create(
            "negative numbers",
            json!({"/spec/replicas": -1, "/spec/minReadySeconds": -1, "/spec/ordinals": {"start": -1}}),
        ),
        create("negative history", json!({"/spec/revisionHistoryLimit": -1})),
        create("hostname", json!({"/spec/template/spec/hostname": "A_b"})),
    ]);
    let mut changes = immutable();
    changes.extend([
        change("selector", other_selector()),
        change("service name", json!({"/spec/serviceName": "other"})),
        change("management", json!({"/spec/podManagementPolicy": "Parallel"})),
        change("claims", json!({"/spec/volumeClaimTemplates": claim_template(&good)})),
        change(
            "allowed",
            json!({
                "/spec/replicas": 3, "/spec/ordinals": {"start": 1}, "/spec/minReadySeconds": 3,
                "/spec/revisionHistoryLimit": 3, "/spec/updateStrategy": {"type": "OnDelete"},
                "/spec/persistentVolumeClaimRetentionPolicy/whenDeleted": "Delete",
            }),
        ),
        change("negative replicas", json!({"/spec/replicas": -3})),
        change("status", json!({"/status/readyReplicas": 1, "/status/replicas": 1})).of_status(),
        change(
            "wrong status",
            json!({"/status": {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}}),
        )
        .of_status(),
    ]);
    compare(&Sides::new().await, &controller("StatefulSet"), creations, changes).await;
}

#[tokio::test]
async fn controller_revisions() {
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "revision"},
        "data": {"a": 1}, "revision": 1,
    });
    let creations = vec![
        create("minimal", json!({})),
        create("no number", json!({"/revision": null})),
        create("no data", json!({"/data": null})),
        create("a list", json!({"/data": [1]})),
        create("negative", json!({"/revision": -1})),
    ];
    let changes =
        vec![change("number", json!({"/revision": 2})), change("data", json!({"/data": {"a": 2}})).loosely()];
    compare(&Sides::new().await, &revision, creations, changes).await;
}
