//! Jobs and `CronJob`s.

use serde_json::{Value, json};

use crate::compare::{Words, change, compare, create, create_loosely};
use crate::server::{Sides, Stays};
use crate::template_cases;

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}}},
    })
}

#[tokio::test]
async fn jobs() {
    let mut creations = template_cases::creations("/spec/template/spec", Words::Same);
    let indexed = |more: Value| {
        let mut edits = json!({"/spec/completionMode": "Indexed", "/spec/completions": 3});
        edits.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edits
    };
    creations.extend([
        create("labels of the template", json!({"/spec/template/metadata": {"labels": {"a": "b"}}})),
        create("labels of its own", json!({"/metadata/labels": {"c": "d"}, "/spec/template/metadata": {"labels": {"a": "b"}}})),
        create("parallel", json!({"/spec/parallelism": 3})),
        create("completions", json!({"/spec/completions": 3})),
        create("indexed", indexed(json!({"/spec/backoffLimitPerIndex": 1}))),
        create("indexed without completions", json!({"/spec/completionMode": "Indexed", "/spec/parallelism": 1})),
        create("too many failures", indexed(json!({"/spec/backoffLimitPerIndex": 1, "/spec/maxFailedIndexes": 5}))),
        create("failures without limit", indexed(json!({"/spec/maxFailedIndexes": 1}))),
        create("limit of no index", json!({"/spec/backoffLimitPerIndex": 1, "/spec/maxFailedIndexes": 1})),
        create("negative numbers", json!({
            "/spec/parallelism": -1, "/spec/completions": -1, "/spec/backoffLimit": -1, "/spec/activeDeadlineSeconds": -1,
            "/spec/ttlSecondsAfterFinished": -1,
        })),
        create("unknown mode", json!({"/spec/completionMode": "Odd"})),
        create("always", json!({"/spec/template/spec/restartPolicy": "Always"})),
        create("not said", json!({"/spec/template/spec/restartPolicy": null})),
        create("on failure", json!({"/spec/template/spec/restartPolicy": "OnFailure"})),
        create("selector of its own", json!({"/spec/selector": {"matchLabels": {"a": "b"}}})),
        create("manual selector", json!({
            "/spec/manualSelector": true, "/spec/selector": {"matchLabels": {"a": "b"}},
            "/spec/template/metadata": {"labels": {"a": "b"}},
        })),
        create("manual without selector", json!({"/spec/manualSelector": true})),
        create("wrong label", json!({"/spec/template/metadata": {"labels": {"job-name": "other"}}})),
        create("failure policy", json!({"/spec/podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}})),
        create("failure policy and restarts", json!({
            "/spec/template/spec/restartPolicy": "OnFailure",
            "/spec/podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
        })),
        create("wrong replacement", json!({"/spec/podReplacementPolicy": "Soon"})),
        create("long name of an indexed one", indexed(json!({"/metadata/name": "a".repeat(62)}))),
        create_loosely("success of no index", json!({"/spec/successPolicy": {"rules": [{"succeededCount": 1}]}})),
    ]);
    let suspended = json!({"/spec/suspend": true});
    let changes = vec![
        change("nothing", json!({})),
        change("parallelism", json!({"/spec/parallelism": 3})),
        change("suspend", json!({"/spec/suspend": true})),
        change("completions", json!({"/spec/completions": 3})),
        change("completions of an indexed one", json!({"/spec/completions": 3}))
            .before(indexed(json!({"/spec/completions": 2}))),
        change("in tandem", json!({"/spec/completions": 3, "/spec/parallelism": 3}))
            .before(indexed(json!({"/spec/completions": 2}))),
        change(
            "selector",
            json!({"/spec/selector/matchLabels/a": "b", "/spec/template/metadata/labels/a": "b"}),
        )
        .loosely(),
        change("image", json!({"/spec/template/spec/containers/0/image": "b"})).loosely(),
        change("node selector", json!({"/spec/template/spec/nodeSelector": {"a": "b"}})).loosely(),
        change("node selector while suspended", json!({"/spec/template/spec/nodeSelector": {"a": "b"}}))
            .before(suspended.clone()),
        change("image while suspended", json!({"/spec/template/spec/containers/0/image": "b"}))
            .before(suspended)
            .loosely(),
        change("mode", json!({"/spec/completionMode": "Indexed"})),
        change("limit", json!({"/spec/backoffLimit": 3})),
    ];
    compare(&Sides::new().await, &job(), creations, changes).await;
}

#[tokio::test]
async fn cron_jobs() {
    let cron = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "cron"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": job()["spec"]}},
    });
    let schedule = |text: &str| json!({"/spec/schedule": text});
    let creations = vec![
        create("minimal", json!({})),
        create("no schedule", json!({"/spec/schedule": null})),
        create("three fields", schedule("* * *")),
        create("minute 60", schedule("60 * * * *")),
        create("no number", schedule("x * * * *")),
        create("day 0", schedule("* * 0 * *")),
        create("backwards", schedule("5-2 * * * *")),
        create("no step", schedule("*/0 * * * *")),
        create("names", schedule("0 0 * jan mon-fri")),
        create("shorthand", schedule("@daily")),
        create("unknown shorthand", schedule("@often")),
        create("zone in it", schedule("TZ=UTC 0 0 * * *")),
        create("zone", json!({"/spec/timeZone": "Europe/Berlin"})),
        create("unknown zone", json!({"/spec/timeZone": "Mars/Olympus"})),
        create("local zone", json!({"/spec/timeZone": "Local"})),
        create("empty zone", json!({"/spec/timeZone": ""})),
        create("wrong policy", json!({"/spec/concurrencyPolicy": "Maybe"})),
        create(
            "negative numbers",
            json!({
                "/spec/startingDeadlineSeconds": -1, "/spec/successfulJobsHistoryLimit": -1, "/spec/failedJobsHistoryLimit": -1,
            }),
        ),
        create("long name", json!({"/metadata/name": "a".repeat(53)})),
        create("restarts always", json!({"/spec/jobTemplate/spec/template/spec/restartPolicy": null})),
        create("selector", json!({"/spec/jobTemplate/spec/selector": {"matchLabels": {"a": "b"}}})),
        create("manual selector", json!({"/spec/jobTemplate/spec/manualSelector": true})),
        create("no image", json!({"/spec/jobTemplate/spec/template/spec/containers/0/image": null})),
        create("negative backoff", json!({"/spec/jobTemplate/spec/backoffLimit": -1})),
    ];
    let changes = vec![
        change("schedule", schedule("@daily")),
        change("wrong schedule", schedule("x")),
        change("template", json!({"/spec/jobTemplate/spec/template/spec/containers/0/image": "b"})),
        change("suspend", json!({"/spec/suspend": true})),
    ];
    compare(&Sides::new().await, &cron, creations, changes).await;
}

#[tokio::test]
async fn what_a_job_owns_stays_unless_something_is_said() {
    // Under a name of its own: other tests make Jobs on the same server at the same time.
    let mut job = job();
    job["metadata"]["name"] = "ending".into();
    for server in Sides::new().await.of(&job) {
        server.create(&job, Stays::Yes).await.unwrap();
        let marked = server.delete("ending", "").await.unwrap();
        assert_eq!(marked["metadata"]["finalizers"], json!(["orphan"]));
        let gone = server.delete("ending", "propagationPolicy=Background").await.unwrap();
        assert_eq!(gone["kind"], "Status");
    }
}
