//! A `StatefulSet`: Pods one after the other, each with its claim, and revisions.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 4] = ["statefulsets", "pods", "persistentvolumeclaims", "controllerrevisions"];

fn stateful_set() -> Value {
    let labels = json!({"app": "db"});
    json!({"metadata": {"name": "db"}, "spec": {
        "replicas": 2, "serviceName": "db", "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {
            "nodeName": "node-1", "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "example.org/db:1",
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
        }},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }}],
        "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete", "whenDeleted": "Retain"},
    }})
}

fn is_complete(replicas: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        let status = &seen["status"];
        let all = ["replicas", "readyReplicas", "availableReplicas", "updatedReplicas"];
        status["observedGeneration"] == generation
            && all.iter().all(|field| status[field] == replicas)
            && status["currentRevision"] == status["updateRevision"]
    }
}

#[test]
fn a_stateful_set_grows_in_order_updates_and_shrinks() {
    let both = Both::begin("stateful");
    both.create("statefulsets", &stateful_set());
    both.until("statefulsets/db", false, &|seen| seen["status"]["replicas"] == 1);
    both.until("persistentvolumeclaims", false, &|claims| claims["items"][0]["status"]["phase"] == "Pending");
    both.same("the first waits to be ready", &ALL);

    both.until("statefulsets/db", true, &is_complete(2, 1));
    both.same("both are ready", &ALL);

    both.patch("statefulsets/db", &json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}));
    both.until("statefulsets/db", true, &is_complete(2, 2));
    both.same("updated", &ALL);

    both.patch("statefulsets/db/scale", &json!({"spec": {"replicas": 1}}));
    both.until("statefulsets/db", true, &is_complete(1, 3));
    both.until_gone("persistentvolumeclaims/data-db-1");
    both.same("the last is gone with its claim", &ALL);

    both.delete("statefulsets/db", "Background");
    both.until_gone("pods/db-0");
    both.until_gone("statefulsets/db");
    both.same("the claim stays", &ALL);
    both.end();
}
