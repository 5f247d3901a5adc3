//! A Deployment: its `ReplicaSets`, its Pods and the status of its rollout.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 4] = ["deployments", "replicasets", "pods", "serviceaccounts"];

fn deployment() -> Value {
    let labels = json!({"app": "web"});
    json!({"metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {
            "nodeName": "node-1", "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "example.org/web:1", "ports": [{"containerPort": 80}]}],
        }},
    }})
}

/// The controller has seen the last change, and all Pods are as it says.
fn is_complete(replicas: i64, generation: i64) -> impl Fn(&Value) -> bool {
    move |seen| {
        let status = &seen["status"];
        let all = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
        status["observedGeneration"] == generation && all.iter().all(|field| status[field] == replicas)
    }
}

#[test]
fn a_deployment_rolls_out_scales_and_rolls_back() {
    let both = Both::begin("deployment");
    both.create("deployments", &deployment());
    both.until("deployments/web", false, &|seen| seen["status"]["unavailableReplicas"] == 3);
    both.until("pods", false, &|pods| pods["items"].as_array().is_some_and(|pods| pods.len() == 3));
    both.same("created", &ALL);

    both.until("deployments/web", true, &is_complete(3, 1));
    both.same("available", &ALL);

    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image, "ports": [{"containerPort": 80}]}]}}}});
    both.patch("deployments/web", &image("example.org/web:2"));
    both.until("deployments/web", true, &is_complete(3, 2));
    both.same("rolled out", &ALL);

    both.patch("deployments/web/scale", &json!({"spec": {"replicas": 2}}));
    both.until("deployments/web", true, &is_complete(2, 3));
    both.same("scaled", &ALL);

    both.patch("deployments/web", &image("example.org/web:1"));
    both.until("deployments/web", true, &is_complete(2, 4));
    both.same("rolled back", &ALL);

    both.patch("deployments/web", &json!({"spec": {"paused": true}}));
    both.until("deployments/web", true, &|seen| seen["status"]["observedGeneration"] == 5);
    both.same("paused", &ALL);

    both.delete("deployments/web", "Foreground");
    both.until_gone("deployments/web");
    both.same("deleted", &ALL);
    both.end();
}
