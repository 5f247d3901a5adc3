//! `wait`: about the newest generation, never early, and with exit codes that tell.

use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::{Stage, condition};

fn ready(status: &str, generation: i64) -> Value {
    json!({"observedGeneration": generation, "conditions": [condition("Ready", status, "AsDesired", generation)]})
}

/// A cluster at generation 2, of which the operator has seen 1.
fn changed(stage: &Stage) {
    stage.cluster("orders", 1);
    stage.status("rcl", "orders", &ready("True", 1));
    stage.cluster("orders", 2);
    assert_eq!(stage.get("rcl", "orders")["metadata"]["generation"], 2);
}

#[test]
fn r1_2_a_change_is_waited_for_and_the_ready_of_before_does_not_count() {
    on_both("wait", |stage| {
        changed(stage);
        let words = "status is about generation 1, the spec is at 2";
        stage
            .muster("wait orders --timeout=0")
            .failed(3, &["is not ready after 0s", words, "kubectl muster status"]);
        let mut wait = stage.begin("wait orders --timeout=90s");
        stage.status("rcl", "orders", &ready("Unknown", 2));
        assert!(wait.goes_on());
        stage.status("rcl", "orders", &ready("True", 2));
        let said = wait.end().succeeded();
        assert_eq!(said.out, "replicatedcluster.muster.dev/orders is ready at generation 2\n");
        let said = stage.muster("wait orders -o json --timeout=0").succeeded();
        assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["metadata"]["name"], "orders");
    });
}

#[test]
fn r1_5_a_status_ahead_of_its_spec_is_not_believed() {
    on_both("wait-ahead", |stage| {
        stage.cluster("orders", 1);
        stage.status("rcl", "orders", &ready("True", 7));
        let words = "status is about generation 7, and this look about 1";
        stage.muster("wait orders --timeout=1s").failed(3, &[words]);
    });
}

#[test]
fn a_condition_and_a_deletion_are_waited_for() {
    on_both("wait-for", |stage| {
        stage.cluster("orders", 1);
        let conditions = json!({"conditions": [condition("Healthy", "False", "NotSynced", 1)]});
        stage.status("rcl", "orders", &conditions);
        stage.muster("wait orders --for=condition=Healthy=False --timeout=0").succeeded();
        let why = "Healthy is False (NotSynced): Healthy for a reason";
        stage
            .muster("wait orders --for=condition=healthy --timeout=1s")
            .failed(3, &[why, "operator not running"]);
        stage.muster("wait orders --for=condition=Happy").failed(2, &["no condition \"Happy\""]);

        let mut gone = stage.begin("wait orders --for=deleted --timeout=90s");
        let ready = stage.begin("wait orders --timeout=90s");
        assert!(gone.goes_on());
        stage.kubectl(&["delete", "rcl", "orders", "-n", &stage.namespace]).succeeded();
        gone.end().succeeded();
        // It may have looked only after the deletion.
        let said = ready.end();
        assert!(matches!(said.code, Some(1 | 4)), "{said:?}");
        stage.muster("wait orders --for=deleted").succeeded().says(&["does not exist"]);
        stage.muster("wait orders").failed(1, &["ReplicatedCluster \"orders\"", "does not exist"]);
    });
}

#[test]
fn waiting_ends_when_the_cluster_goes_or_is_another() {
    on_both("wait-gone", |stage| {
        stage.cluster("orders", 1);
        stage.patch("rcl", "orders", &json!({"metadata": {"finalizers": ["muster.dev/cluster"]}}));
        stage.kubectl(&["delete", "rcl", "orders", "-n", &stage.namespace, "--wait=false"]).succeeded();
        stage.muster("wait orders").failed(4, &["is being deleted"]);
        let mut gone = stage.begin("wait orders --for=deleted --timeout=90s");
        assert!(gone.goes_on());
        stage.patch("rcl", "orders", &json!({"metadata": {"finalizers": null}}));
        gone.end().succeeded();
    });
}
