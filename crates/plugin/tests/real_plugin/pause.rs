//! `stop` and `start` (R4.1): the annotations, said once, acknowledged, for one cluster, several or all.

use std::path::Path;

use serde_json::{Value, json};

use crate::servers::{on_an_own_server, on_both, on_the_real_one};
use crate::stage::{Stage, condition};

fn annotation(stage: &Stage, name: &str, what: &str) -> Value {
    stage.get("rcl", name)["metadata"]["annotations"][format!("muster.dev/{what}-stopped")].clone()
}

#[test]
fn r4_1_stop_sets_the_annotation_and_start_removes_it() {
    on_both("pause", |stage| {
        stage.cluster("orders", 1);
        stage.cluster("billing", 1);
        for what in ["clustering", "reconciliation"] {
            let said = stage.muster(&format!("stop {what} orders billing")).succeeded();
            let line =
                |name: &str, word: &str| format!("replicatedcluster.muster.dev/{name} {what} {word}\n");
            assert_eq!(said.out, line("orders", "stopped") + &line("billing", "stopped"));
            assert_eq!(annotation(stage, "orders", what), "true");
            let said = stage.muster(&format!("stop {what} orders")).succeeded();
            assert_eq!(said.out, line("orders", "was stopped already"));
            stage.muster(&format!("start {what} orders")).succeeded();
            assert_eq!(annotation(stage, "orders", what), Value::Null);
            assert_eq!(annotation(stage, "billing", what), "true", "the other is left alone");
            let said = stage.muster(&format!("start {what} orders")).succeeded();
            assert_eq!(said.out, line("orders", "was not stopped"));
            let said = stage.muster(&format!("start {what} --all")).succeeded();
            assert_eq!(said.out, line("billing", "started") + &line("orders", "was not stopped"));
        }
        assert_eq!(stage.get("rcl", "orders")["metadata"]["generation"], 1, "the spec is untouched");
    });
}

#[test]
fn a_value_that_does_not_stop_is_replaced_by_one_that_does() {
    on_both("pause-value", |stage| {
        stage.cluster("orders", 1);
        stage.patch(
            "rcl",
            "orders",
            &json!({"metadata": {"annotations": {"muster.dev/clustering-stopped": "false"}}}),
        );
        stage.muster("start clustering orders").succeeded().says(&["was not stopped"]);
        stage.muster("stop clustering orders").succeeded().says(&["clustering stopped"]);
        assert_eq!(annotation(stage, "orders", "clustering"), "true");
    });
}

#[test]
fn all_clusters_of_all_namespaces_are_stopped_and_started() {
    on_an_own_server("pause-all", |stage| {
        stage.cluster("orders", 1);
        let elsewhere = Stage::new("pause-elsewhere", stage.kubeconfig());
        elsewhere.create_namespace();
        elsewhere.cluster("billing", 1);
        let all = |words: &[&str]| stage.kubectl(&[&["muster"], words].concat());
        all(&["stop", "clustering", "-A"]).succeeded().says(&["orders", "billing"]);
        assert_eq!(annotation(stage, "orders", "clustering"), "true");
        assert_eq!(annotation(&elsewhere, "billing", "clustering"), "true");
        all(&["start", "clustering", "-A"]).succeeded().says(&["orders", "billing"]);
        assert_eq!(annotation(stage, "orders", "clustering"), Value::Null);
        assert_eq!(annotation(&elsewhere, "billing", "clustering"), Value::Null);
        all(&["stop", "reconciliation", "--all", "-n", "pause-elsewhere"]).succeeded().says(&["billing"]);
        assert_eq!(annotation(stage, "orders", "reconciliation"), Value::Null, "another namespace");
        assert_eq!(annotation(&elsewhere, "billing", "reconciliation"), "true");
    });
}

#[test]
fn who_may_not_is_told_so_and_nothing_changes() {
    on_the_real_one("pause-forbidden", |stage| {
        stage.cluster("orders", 1);
        let namespace = stage.namespace.as_str();
        stage.kubectl(&["create", "serviceaccount", "guest", "-n", namespace]).succeeded();
        let token = stage.kubectl(&["create", "token", "guest", "-n", namespace]).succeeded().out;
        let guest = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest.kubeconfig");
        std::fs::copy(stage.kubeconfig(), &guest).unwrap();
        let file = format!("--kubeconfig={}", guest.display());
        let token = format!("--token={}", token.trim());
        stage.kubectl(&["config", &file, "set-credentials", "guest", &token]).succeeded();
        stage.kubectl(&["config", &file, "set-context", "--current", "--user=guest"]).succeeded();
        for words in ["stop clustering orders", "status orders", "tree orders", "switchover orders"] {
            let said = stage.muster(&format!("{words} {file}"));
            said.failed(1, &["you may not", "ReplicatedCluster \"orders\""]);
        }
        assert_eq!(annotation(stage, "orders", "clustering"), Value::Null);
    });
}

#[test]
fn a_wrong_name_changes_nothing() {
    on_both("pause-wrong", |stage| {
        stage.cluster("orders", 1);
        let said = stage.muster("stop clustering orders nobody");
        said.failed(
            1,
            &["ReplicatedCluster \"nobody\" in namespace", "does not exist; kubectl get rcl -n pause-wrong"],
        );
        assert_eq!(annotation(stage, "orders", "clustering"), Value::Null);
        stage.muster("stop clustering orders -A").failed(2, &["cannot be used with"]);
    });
}

#[test]
fn a_stop_is_waited_for_until_the_operator_has_really_stopped() {
    on_both("pause-wait", |stage| {
        stage.cluster("orders", 1);
        let active =
            |status, reason| json!({"conditions": [condition("ClusteringActive", status, reason, 1)]});
        stage.status("rcl", "orders", &active("True", "Active"));
        let mut stop = stage.begin("stop clustering orders --wait --timeout=90s");
        stage.until("rcl", "orders", |seen| {
            (seen["metadata"]["annotations"]["muster.dev/clustering-stopped"] == "true").then_some(())
        });
        stage.status("rcl", "orders", &active("True", "Stopping"));
        assert!(stop.goes_on());
        stage.status("rcl", "orders", &active("False", "ClusteringStopped"));
        let said = stop.end().succeeded();
        assert!(said.err.contains("orders: the operator says: ClusteringActive for a reason"), "{said:?}");
        let said = stage.muster("start clustering orders --wait --timeout=1s");
        said.failed(3, &["did not acknowledge the change of clustering within 1s", "operator not running"]);
    });
}
