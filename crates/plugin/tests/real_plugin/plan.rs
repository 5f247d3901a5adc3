//! `plan`: what the operator would do, held against what its own functions build; and nothing of it is done.

use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::build::member::Target;
use muster_core::build::stateful_set::Presence;
use muster_core::build::{self, ClusterChildren, drivers::DriverWorkload};
use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::{Stage, condition};

const ENGINE: &str = include_str!("../../../api/tests/manifests/engine-ledger.yaml");

/// An engine of the test's own, which every namespace may use.
fn engine(stage: &Stage) -> ReplicationEngine {
    let mut engine: ReplicationEngine = serde_yaml_ng::from_str(ENGINE).unwrap();
    engine.metadata.name = Some(stage.namespace.clone());
    engine.spec.namespace_selector = None;
    let mut newer = engine.spec.versions[0].clone();
    newer.version = "9.9".to_owned();
    engine.spec.versions.push(newer);
    engine
}

fn manifest(stage: &Stage) -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": stage.namespace},
        "spec": {"engine": {"name": stage.namespace}, "pools": [
            {"name": "a", "threshold": {"nodes": 2}, "storage": {"capacity": "1Gi", "storageClassName": "plan"}}]},
    })
}

fn prepare(stage: &Stage) {
    stage.apply(&serde_json::to_value(engine(stage)).unwrap());
    stage.apply(
        &json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "plan"},
        "provisioner": "nobody.example"}),
    );
}

/// Makes all that the operator would make of the cluster, and says that it is ready.
fn carry_out(stage: &Stage) {
    let cluster: ReplicatedCluster = serde_json::from_value(stage.get("rcl", "orders")).unwrap();
    let children = build::cluster(&cluster, &engine(stage).spec, "agent:1").unwrap();
    let ClusterChildren { config_map, services, disruption_budget, drivers, accounts, config } = &children;
    let apply = |object: Value| stage.apply_as("muster", &object);
    apply(serde_json::to_value(config_map).unwrap());
    for service in services {
        apply(serde_json::to_value(service).unwrap());
    }
    apply(serde_json::to_value(disruption_budget).unwrap());
    for driver in drivers {
        apply(match driver {
            DriverWorkload::Deployment(one) => serde_json::to_value(one).unwrap(),
            DriverWorkload::DaemonSet(one) => serde_json::to_value(one).unwrap(),
        });
    }
    let accounts = accounts.iter().map(|account| build::names::account_secret("orders", &account.name));
    for name in accounts.chain([build::names::agent_ca("orders")]) {
        apply(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": stage.namespace}}),
        );
    }
    let name = config_map.metadata.name.clone().unwrap();
    let target = Target { version: config.version.clone(), config: name, secrets_hash: None };
    for ordinal in 0..2 {
        let member = build::member::of_pool(&cluster, &cluster.spec.pools[0], ordinal, &target);
        apply(serde_json::to_value(&member).unwrap());
        let name = build::names::member("orders", "a", ordinal);
        let member: Member = serde_json::from_value(stage.get("mbr", &name)).unwrap();
        let set = build::stateful_set::of_member(&member, config, Presence::Running).unwrap();
        apply(serde_json::to_value(set).unwrap());
        apply(serde_json::to_value(build::claim::of_member(&member, None).unwrap()).unwrap());
        let (role, joined) =
            (if ordinal == 0 { "primary" } else { "secondary" }, condition("Joined", "True", "Joined", 1));
        let status = json!({"observedGeneration": 1, "role": role, "sequence": 7,
            "conditions": [joined, condition("Ready", "True", "AsDesired", 1)]});
        stage.status("mbr", &name, &status);
    }
}

#[test]
fn a_new_cluster_is_planned_and_not_made() {
    on_both("plan-new", |stage| {
        prepare(stage);
        let said = stage.muster_with("plan -f -", &manifest(stage).to_string()).succeeded();
        said.says(&[
            "orders in namespace",
            "as it is to be created",
            "create orders-a-0, orders-a-1, each with its claim",
            "create   ConfigMap/orders-",
            "create   Service/orders ",
            "create   Service/orders-members",
            "create   PodDisruptionBudget/orders",
            "create   Secret/orders-agent-ca",
        ]);
        stage.muster("plan orders").failed(1, &["ReplicatedCluster \"orders\"", "does not exist"]);

        let mut wrong = manifest(stage);
        wrong["spec"]["engine"]["version"] = json!("0.0");
        let said = stage.muster_with("plan -f -", &wrong.to_string());
        said.says(&["not valid: spec.engine.version"]).failed(4, &["nothing would be done"]);
    });
}

#[test]
fn what_is_as_asked_needs_nothing_and_a_change_is_shown_where_it_is() {
    on_both("plan-change", |stage| {
        prepare(stage);
        stage.apply(&manifest(stage));
        carry_out(stage);
        stage.muster("plan orders").succeeded().says(&["Nothing to do: everything is as this spec asks."]);

        let mut changed = manifest(stage);
        changed["spec"]["engine"]["version"] = json!("9.9");
        changed["spec"]["pools"][0]["threshold"]["nodes"] = json!(3);
        changed["spec"]["pools"][0]["storage"]["capacity"] = json!("2Gi");
        changed["spec"]["service"] = json!({"type": "NodePort"});
        let before = (stage.get("rcl", "orders"), stage.get("mbr", "orders-a-0"), stage.get("svc", "orders"));
        let said = stage.muster_with("plan -f -", &changed.to_string()).succeeded();
        let said = said.says(&[
            "changed to generation 2",
            "create orders-a-2, each with its claim",
            "orders-a-0   now                                        claim 1Gi -> 2Gi",
            "orders-a-0   later, one at a time, after a switchover   version ",
            "orders-a-1   now ",
            "-> 9.9; configuration orders-",
            "create   ConfigMap/orders-",
            "change   Service/orders ",
            "spec.type: \"NodePort\" in place of \"ClusterIP\"",
        ]);
        assert!(!said.out.contains("PodDisruptionBudget"), "{}", said.out);
        let after = (stage.get("rcl", "orders"), stage.get("mbr", "orders-a-0"), stage.get("svc", "orders"));
        assert_eq!(before, after, "nothing was done");

        let said = stage.muster_with("plan -f - -o json", &changed.to_string()).succeeded();
        let plan: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(plan["pools"][0]["desiredNodes"], 3);
        stage.muster("stop reconciliation orders").succeeded();
        stage.muster("plan orders").succeeded().says(&["reconciliation is stopped: nothing below is done"]);

        let mut refused = manifest(stage);
        refused["spec"]["pools"][0]["storage"]["capacity"] = json!("1Mi");
        let said = stage.muster_with("plan -f -", &refused.to_string());
        said.says(&["not valid: spec.pools[0].storage.capacity"]).failed(4, &[]);
    });
}

#[test]
fn a_name_that_is_taken_is_said() {
    on_both("plan-taken", |stage| {
        prepare(stage);
        stage.apply(&manifest(stage));
        stage.apply(&json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "orders", "namespace": stage.namespace}, "spec": {"ports": [{"port": 1}]}}));
        stage
            .muster("plan orders")
            .succeeded()
            .says(&["blocked   Service/orders", "the name is taken: its label"]);
    });
}
