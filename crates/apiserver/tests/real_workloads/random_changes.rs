//! Objects with any of many fields, and then with any others of them: what both sides make of it is the same.

use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::compare::{GONE, Words, edited, plain};
use crate::server::{Objects, Sides, Stays};

/// How many pairs of creation and change are tried for each kind.
const PAIRS: u32 = 60;

type Fields = Vec<(&'static str, Value)>;

/// Some of the fields, as an edit.
fn some(fields: &Fields) -> impl Strategy<Value = Value> + use<> {
    let most = fields.len().min(4);
    subsequence(fields.clone(), 0..=most)
        .prop_map(|fields| fields.into_iter().map(|(path, value)| (path.to_owned(), value)).collect())
}

/// The one change over which the real server breaks the connection: a Service with an address shall have none any more, has
/// no selector, and wants addresses of both versions. It then looks for one of version 6, where there is no one who gives
/// them out, and panics.
fn breaks_off(stored: &Value, next: &Value) -> bool {
    let text = |object: &Value, field: &str| object["spec"][field].as_str().unwrap_or_default().to_owned();
    let has_address =
        |object: &Value| text(object, "type") != "ExternalName" && text(object, "clusterIP") != "None";
    let both = text(next, "ipFamilyPolicy").ends_with("DualStack");
    let headless = text(next, "type") != "ExternalName" && text(next, "clusterIP") == "None";
    next["kind"] == "Service" && has_address(stored) && headless && both && next["spec"]["selector"].is_null()
}

/// Creates, and if that goes well changes, and takes away.
async fn both_steps(server: &Objects, object: &Value, edits: &Value) -> Value {
    let sent = object.clone();
    let stored = match server.create(object, Stays::Yes).await {
        Ok(stored) => stored,
        refused => return json!(format!("{:?}", plain(refused, &sent, None, Words::Differ))),
    };
    let next = edited(&stored, edits);
    let created = plain(Ok(stored.clone()), &sent, None, Words::Differ);
    let name = object["metadata"]["name"].as_str().unwrap();
    if breaks_off(&stored, &next) {
        server.delete(name, GONE).await.unwrap();
        return json!([format!("{created:?}")]);
    }
    let answer = server.replace(&next, "", Stays::No).await;
    server.delete(name, GONE).await.unwrap();
    let changed = plain(answer, &edited(&sent, edits), Some(&stored), Words::Differ);
    json!([format!("{created:?}"), format!("{changed:?}")])
}

fn compare_changes(base: &Value, fields: &Fields) {
    // With a thread of its own, so that a connection is looked after between requests.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let sides = runtime.block_on(Sides::new());
    let servers = sides.of(base);
    let config = Config { cases: PAIRS, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&(some(fields), some(fields)), |(first, then)| {
        let object = edited(base, &first);
        let told = servers.each_ref().map(|server| runtime.block_on(both_steps(server, &object, &then)));
        prop_assert_eq!(&told[0], &told[1], "{} then {}", first, then);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn services() {
    let base = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "any"},
        "spec": {"selector": {"app": "a"}, "ports": [{"name": "a", "port": 80}]},
    });
    let fields = vec![
        ("/spec/type", json!("NodePort")),
        ("/spec/type", json!("LoadBalancer")),
        ("/spec/type", json!("ExternalName")),
        ("/spec/type", json!("ClusterIP")),
        ("/spec/clusterIP", json!("None")),
        ("/spec/clusterIP", json!("")),
        ("/spec/clusterIPs", Value::Null),
        ("/spec/externalName", json!("a.b")),
        ("/spec/selector", Value::Null),
        ("/spec/ports", Value::Null),
        ("/spec/ports", json!([{"name": "a", "port": 80}, {"name": "b", "port": 81, "targetPort": "x"}])),
        ("/spec/ports", json!([{"port": 53, "protocol": "UDP", "nodePort": 0}])),
        ("/spec/externalTrafficPolicy", json!("Local")),
        ("/spec/externalTrafficPolicy", json!("")),
        ("/spec/internalTrafficPolicy", json!("Local")),
        ("/spec/sessionAffinity", json!("ClientIP")),
        ("/spec/sessionAffinity", json!("None")),
        ("/spec/allocateLoadBalancerNodePorts", json!(false)),
        ("/spec/ipFamilyPolicy", json!("PreferDualStack")),
        ("/spec/ipFamilies", json!(["IPv4"])),
        ("/spec/publishNotReadyAddresses", json!(false)),
        ("/spec/externalIPs", json!(["1.2.3.4"])),
        ("/spec/loadBalancerIP", json!("1.2.3.4")),
    ];
    compare_changes(&base, &fields);
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "a"}]},
    })
}

fn controller(kind: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "any"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template()},
    })
}

fn fields_of_controllers() -> Fields {
    vec![
        ("/spec/replicas", json!(0)),
        ("/spec/replicas", json!(3)),
        ("/spec/minReadySeconds", json!(0)),
        ("/spec/minReadySeconds", json!(5)),
        ("/spec/revisionHistoryLimit", json!(0)),
        ("/spec/selector", json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]})),
        ("/spec/selector", json!({"matchLabels": {"app": "b"}})),
        ("/spec/template/metadata/labels/x", json!("")),
        ("/spec/template/metadata/annotations", json!({"a": "b"})),
        ("/spec/template/spec/containers/0/image", json!("b")),
        ("/spec/template/spec/volumes", json!([{"name": "a"}])),
        ("/spec/template/spec/hostNetwork", json!(true)),
        ("/spec/template/spec/restartPolicy", json!("Never")),
        ("/metadata/annotations", json!({"c": "d"})),
        ("/metadata/labels", json!({"e": "f"})),
    ]
}

#[test]
fn deployments() {
    let mut fields = fields_of_controllers();
    fields.extend([
        ("/spec/strategy", json!({"type": "Recreate"})),
        ("/spec/strategy", json!({"rollingUpdate": {"maxSurge": 0}})),
        ("/spec/paused", json!(true)),
        ("/spec/paused", json!(false)),
        ("/spec/progressDeadlineSeconds", json!(5)),
    ]);
    compare_changes(&controller("Deployment"), &fields);
}

#[test]
fn daemon_sets() {
    let mut fields = fields_of_controllers();
    fields.retain(|(path, _)| *path != "/spec/replicas");
    fields.push(("/spec/updateStrategy", json!({"type": "OnDelete"})));
    fields.push(("/spec/updateStrategy", json!({"rollingUpdate": {"maxUnavailable": "10%"}})));
    compare_changes(&controller("DaemonSet"), &fields);
}

#[test]
fn stateful_sets() {
    let claims = json!([{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}}]);
    let mut fields = fields_of_controllers();
    fields.extend([
        ("/spec/serviceName", json!("a")),
        ("/spec/serviceName", json!("")),
        ("/spec/podManagementPolicy", json!("Parallel")),
        ("/spec/updateStrategy", json!({"type": "OnDelete"})),
        ("/spec/updateStrategy", json!({"type": "RollingUpdate"})),
        ("/spec/updateStrategy", json!({"rollingUpdate": {"partition": 2, "maxUnavailable": 2}})),
        ("/spec/volumeClaimTemplates", claims),
        ("/spec/ordinals", json!({"start": 0})),
        ("/spec/persistentVolumeClaimRetentionPolicy", json!({"whenDeleted": "Delete"})),
    ]);
    compare_changes(&controller("StatefulSet"), &fields);
}

#[test]
fn jobs() {
    let mut base = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "any"}, "spec": {"template": template()}});
    base["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    let fields = vec![
        ("/spec/parallelism", json!(0)),
        ("/spec/parallelism", json!(2)),
        ("/spec/completions", json!(2)),
        ("/spec/completions", Value::Null),
        ("/spec/completionMode", json!("Indexed")),
        ("/spec/suspend", json!(true)),
        ("/spec/suspend", json!(false)),
        ("/spec/backoffLimit", json!(0)),
        ("/spec/backoffLimitPerIndex", json!(1)),
        ("/spec/ttlSecondsAfterFinished", json!(0)),
        ("/spec/activeDeadlineSeconds", json!(5)),
        ("/spec/template/spec/restartPolicy", json!("OnFailure")),
        ("/spec/template/spec/nodeSelector", json!({"a": "b"})),
        ("/spec/template/spec/containers/0/resources", json!({"requests": {"cpu": "1"}})),
        ("/spec/template/metadata/labels", json!({"y": "z"})),
        ("/metadata/labels", json!({"e": "f"})),
    ];
    compare_changes(&base, &fields);
}
