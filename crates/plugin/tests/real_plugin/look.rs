//! `status` and `tree`: what a person sees.

use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::condition;

#[test]
fn the_status_of_a_cluster_says_how_old_it_is_and_what_to_do() {
    on_both("look", |stage| {
        stage.cluster("orders", 2);
        stage.muster("status orders").succeeded().says(&[
            "operator not running: there is no Lease muster-operator",
            "Ready is not known: the operator has not written a status yet",
            "generation 1 is not applied",
            "there are none yet",
        ]);
        stage.member("orders", 0);
        stage.member("orders", 1);
        stage.lease(0);
        let unblock =
            "kubectl muster fence orders orders-a-1 # only when you made sure that none of them runs";
        stage.status(
            "rcl",
            "orders",
            &json!({"observedGeneration": 1, "phase": "Recovering", "reason": "Blocked", "membersReady": "1/2",
                "conditions": [condition("Ready", "False", "NoPrimary", 1)],
                "recovery": {"state": "Blocked", "blockedBy": "MemberMissing", "digest": "d1", "unblock": unblock,
                    "expected": ["orders-a-0", "orders-a-1"], "missing": ["orders-a-1"],
                    "reported": [{"member": "orders-a-0", "sequence": 41, "term": "9.1", "empty": false}]}}),
        );
        stage.status(
            "mbr",
            "orders-a-0",
            &json!({"observedGeneration": 1, "currentState": "Enabled", "sequence": 41, "freeStorage": "700Mi",
                "conditions": [condition("Joined", "False", "Stopped", 1), condition("Ready", "False", "Stopped", 1)]}),
        );
        let namespace = &stage.namespace;
        stage.muster("status orders").succeeded().says(&[
            "running (op-1, seen ",
            "Recovering (Blocked)",
            "Blocked by MemberMissing",
            "orders-a-0   -      Enabled         False     41         not known   700Mi",
            &format!("  kubectl muster fence orders orders-a-1 -n {namespace} # only when you made sure"),
        ]);
        let said = stage.muster("status orders -o json").succeeded();
        let facts: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(facts["operator"]["knowledge"]["state"], "current");
        assert_eq!(facts["members"].as_array().unwrap().len(), 2);
        assert!(!said.out.contains('\u{1b}'));
        stage.muster("status orders -o yaml").succeeded().says(&["blockedBy: MemberMissing"]);
        stage.muster("status orders -o wide").succeeded().says(&["HISTORY", "ADDRESS"]);

        stage.lease(3030);
        stage
            .muster("status orders")
            .succeeded()
            .says(&["operator not running: what follows is as of 50m ago or older"]);
        let said = stage.muster("status").succeeded().says(&["orders   Recovering   False"]);
        assert!(said.err.contains("operator not running"), "{said:?}");
        stage.kubectl(&["muster", "status", "-A"]).succeeded().says(&["NAMESPACE", namespace]);
        stage.muster("status nobody").failed(1, &["ReplicatedCluster \"nobody\"", "kubectl get rcl"]);
    });
}

#[test]
fn the_tree_shows_every_owned_object_with_its_generation() {
    on_both("tree", |stage| {
        stage.cluster("orders", 1);
        stage.member("orders", 0);
        let (namespace, member) = (&stage.namespace, stage.get("mbr", "orders-a-0"));
        let labels = json!({"muster.dev/cluster": "orders", "muster.dev/member": "orders-a-0"});
        let owner = json!([{"apiVersion": "muster.dev/v1alpha1", "kind": "Member", "name": "orders-a-0",
            "uid": member["metadata"]["uid"], "controller": true}]);
        stage.apply(&json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": "orders-a-0", "namespace": namespace, "labels": labels, "ownerReferences": owner},
            "spec": {"serviceName": "x", "replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "x"}]}}},
        }));
        let of_member = json!({"name": "orders-a-0-agent", "namespace": namespace, "labels": labels, "ownerReferences": owner});
        stage.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": of_member, "stringData": {"k": "hidden"}}));
        stage.apply(&json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data-orders-a-0", "namespace": namespace, "labels": labels},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }));
        stage.status(
            "mbr",
            "orders-a-0",
            &json!({"observedGeneration": 1, "conditions": [condition("Ready", "True", "AsDesired", 1)]}),
        );
        stage.status("sts", "orders-a-0", &json!({"observedGeneration": 1, "replicas": 0}));
        stage.patch("sts", "orders-a-0", &json!({"spec": {"replicas": 0}}));
        let said = stage.muster("tree orders").succeeded();
        let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
        let starts = |words: &[&str]| {
            assert!(lines.iter().any(|line| line.starts_with(words)), "{words:?} {}", said.out);
        };
        starts(&["ReplicatedCluster/orders", "False", "1", "-", "has", "observed", "generation", "0"]);
        starts(&["└─Member/orders-a-0", "True", "1", "1"]);
        starts(&[
            "├─StatefulSet/orders-a-0",
            "False",
            "2",
            "1",
            "has",
            "observed",
            "generation",
            "1",
            "of",
            "2",
        ]);
        starts(&["└─Secret/orders-a-0-agent", "-"]);
        starts(&["PersistentVolumeClaim/data-orders-a-0", "False"]);
        let json = stage.muster("tree orders -o json").succeeded().out;
        assert!(!json.contains("hidden") && json.contains("\"observedGeneration\": 1"), "{json}");
        stage.muster("tree nobody").failed(1, &["ReplicatedCluster \"nobody\""]);
    });
}

#[test]
fn a_server_that_is_not_there_is_named() {
    on_both("away", |stage| {
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "users": [{"name": "c", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}]});
        let file =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.away", stage.namespace));
        std::fs::write(&file, config.to_string()).unwrap();
        let flag = format!("--kubeconfig {}", file.display());
        let said = stage.muster(&format!("status orders {flag}"));
        said.failed(1, &["cannot read ReplicatedCluster \"orders\"", "no connection to http://127.0.0.1:1"]);
        stage
            .muster(&format!("status orders {flag} --context nobody"))
            .failed(1, &["which cluster is meant", "--context"]);
        stage.muster("status orders --kubeconfig nowhere").failed(1, &["which cluster is meant"]);
    });
}
