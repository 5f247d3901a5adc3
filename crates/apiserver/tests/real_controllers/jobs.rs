//! A Job to its end, and a `CronJob` that is suspended.

use serde_json::{Value, json};

use crate::both::Both;

const ALL: [&str; 3] = ["jobs", "cronjobs", "pods"];

fn job() -> Value {
    json!({"completions": 2, "parallelism": 2, "backoffLimit": 3, "template": {"spec": {
        "restartPolicy": "Never", "nodeName": "node-1", "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "example.org/work:1"}],
    }}})
}

/// All Pods that run come to this end.
fn end_pods(both: &Both, phase: &str) {
    both.on_pods(&|pod| pod["status"]["phase"] == "Running", &json!({"status": {"phase": phase}}));
}

#[test]
fn a_job_tries_again_and_completes() {
    let both = Both::begin("jobs");
    both.create(
        "cronjobs",
        &json!({"metadata": {"name": "later"}, "spec": {
            "schedule": "* * * * *", "suspend": true, "jobTemplate": {"spec": job()},
        }}),
    );
    both.create("jobs", &json!({"metadata": {"name": "work"}, "spec": job()}));
    both.until("jobs/work", false, &|seen| seen["status"]["active"] == 2);
    both.same("begun", &ALL);

    both.until("jobs/work", true, &|seen| seen["status"]["ready"] == 2);
    both.same("running", &ALL);

    end_pods(&both, "Succeeded");
    both.until("jobs/work", false, &|seen| seen["status"]["succeeded"] == 2);
    both.until("jobs/work", false, &|seen| seen["status"]["completionTime"].is_string());
    both.same("complete", &ALL);

    let mut fails = job();
    fails["backoffLimit"] = 0.into();
    fails["completions"] = 1.into();
    both.create("jobs", &json!({"metadata": {"name": "fails"}, "spec": fails}));
    both.until("jobs/fails", true, &|seen| seen["status"]["ready"] == 1);
    end_pods(&both, "Failed");
    both.until("jobs/fails", false, &|seen| {
        seen["status"]["conditions"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["type"] == "Failed"))
    });
    both.same("failed", &ALL);

    both.delete("jobs/work", "Background");
    both.until_gone("jobs/work");
    both.until("pods", false, &|pods| pods["items"].as_array().is_some_and(|pods| pods.len() == 1));
    both.same("deleted", &ALL);
    both.end();
}
