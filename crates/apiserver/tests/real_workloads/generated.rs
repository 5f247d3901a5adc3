//! Pods with any of many optional fields, in odd forms too: what both sides make of them is the same.

use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::compare::{Words, edited, plain};
use crate::pods::pod;
use crate::server::{Sides, Stays};

/// How many Pods are tried, with all their containers.
const PODS: u32 = 150;

/// Fields of the spec, each with a value.
fn spec_fields() -> Vec<(&'static str, Value)> {
    let volumes = json!([{"name": "a"}, {"name": "b", "configMap": {"name": "c", "optional": false}}]);
    vec![
        ("restartPolicy", json!("OnFailure")),
        ("restartPolicy", json!("")),
        ("dnsPolicy", json!("Default")),
        ("hostNetwork", json!(true)),
        ("hostNetwork", json!(false)),
        ("hostPID", json!(false)),
        ("hostUsers", json!(true)),
        ("shareProcessNamespace", json!(false)),
        ("terminationGracePeriodSeconds", json!(0)),
        ("activeDeadlineSeconds", json!(7)),
        ("nodeSelector", json!({})),
        ("nodeSelector", json!({"a": ""})),
        ("serviceAccountName", json!("")),
        ("serviceAccount", json!("robot")),
        ("automountServiceAccountToken", json!(false)),
        ("securityContext", json!({"runAsUser": 0, "sysctls": []})),
        ("imagePullSecrets", json!([{"name": "s"}, {}])),
        ("tolerations", json!([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}])),
        ("tolerations", json!([])),
        ("hostAliases", json!([{"ip": "1.2.3.4", "hostnames": ["a"]}])),
        ("priority", json!(0)),
        ("enableServiceLinks", json!(false)),
        ("schedulerName", json!("mine")),
        ("setHostnameAsFQDN", json!(false)),
        ("readinessGates", json!([{"conditionType": "a.b/c"}])),
        ("volumes", volumes),
        ("volumes", json!([])),
        ("overhead", json!({"cpu": "1m"})),
        ("affinity", json!({})),
        ("affinity", json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}})),
        ("dnsConfig", json!({"options": [{"name": "ndots", "value": "2"}, {"name": "x"}]})),
        ("initContainers", json!([])),
        ("os", json!({"name": "linux"})),
    ]
}

/// Fields of a container, each with a value.
fn container_fields() -> Vec<(&'static str, Value)> {
    let probe = |more: Value| edited(&json!({"exec": {"command": ["x"]}}), &more);
    vec![
        ("image", json!("localhost/a:latest")),
        ("image", json!("a@sha256:0000000000000000000000000000000000000000000000000000000000000000")),
        ("image", json!("Upper/a")),
        ("imagePullPolicy", json!("")),
        ("imagePullPolicy", json!("Never")),
        ("command", json!([])),
        ("args", json!(["", "b"])),
        ("workingDir", json!("")),
        ("stdin", json!(false)),
        ("tty", json!(true)),
        ("terminationMessagePath", json!("/x")),
        ("terminationMessagePolicy", json!("FallbackToLogsOnError")),
        (
            "env",
            json!([{"name": "A", "value": ""}, {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "", "fieldPath": "metadata.uid"}}}]),
        ),
        (
            "env",
            json!([{"name": "R", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}]),
        ),
        ("envFrom", json!([{"prefix": "", "secretRef": {"name": "s", "optional": false}}])),
        (
            "ports",
            json!([{"containerPort": 80, "hostPort": 0, "name": ""}, {"containerPort": 81, "protocol": "UDP"}]),
        ),
        ("resources", json!({})),
        ("resources", json!({"limits": {"cpu": 1, "memory": "1.5Gi"}})),
        (
            "resources",
            json!({"requests": {"cpu": "0.25", "memory": "128974848"}, "limits": {"memory": "1e9"}}),
        ),
        ("resources", json!({"requests": {"cpu": "1500m", "ephemeral-storage": "0"}, "limits": {}})),
        ("resources", json!({"limits": {"example.com/a": "2000m"}})),
        (
            "livenessProbe",
            probe(
                json!({"/periodSeconds": 0, "/initialDelaySeconds": 0, "/terminationGracePeriodSeconds": 5}),
            ),
        ),
        ("readinessProbe", json!({"httpGet": {"path": "", "port": "http", "host": "", "httpHeaders": []}})),
        ("startupProbe", json!({"grpc": {"port": 5, "service": "s"}, "failureThreshold": 30})),
        ("startupProbe", json!({"tcpSocket": {"port": 5, "host": "h"}})),
        ("lifecycle", json!({"postStart": {"exec": {"command": ["x"]}}})),
        ("lifecycle", json!({"preStop": {"sleep": {"seconds": 0}}})),
        ("lifecycle", json!({})),
        ("securityContext", json!({"privileged": false, "capabilities": {"drop": ["ALL"]}})),
        ("securityContext", json!({})),
        ("volumeMounts", json!([{"name": "a", "mountPath": "/a", "readOnly": false, "subPath": ""}])),
        ("resizePolicy", json!([{"resourceName": "cpu", "restartPolicy": "NotRequired"}])),
        ("restartPolicy", json!("Always")),
    ]
}

/// A Pod with some of the fields, and with containers of which some run first.
fn pods() -> impl Strategy<Value = Value> {
    let some = |fields: Vec<(&'static str, Value)>| {
        let count = fields.len();
        subsequence(fields, 0..=count / 2)
    };
    let container = (some(container_fields()), any::<bool>());
    (some(spec_fields()), proptest::collection::vec(container, 1..4)).prop_map(|(fields, containers)| {
        let mut pod = pod();
        for (field, value) in fields {
            pod["spec"][field] = value;
        }
        for (index, (fields, first)) in containers.into_iter().enumerate() {
            let mut container = json!({"name": format!("c{index}"), "image": "a:1"});
            for (field, value) in fields {
                container[field] = value;
            }
            let list = if first { "initContainers" } else { "containers" };
            match pod["spec"][list].as_array_mut() {
                Some(list) => list.push(container),
                None => pod["spec"][list] = json!([container]),
            }
        }
        pod
    })
}

#[test]
fn any_pod_comes_out_the_same() {
    // With a thread of its own, so that a connection is looked after between requests.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let sides = runtime.block_on(Sides::new());
    let servers = sides.of(&pod());
    let mut runner = TestRunner::new(Config { cases: PODS, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&pods(), |pod| {
        let answers = servers.each_ref().map(|server| {
            let answer = runtime.block_on(server.create(&pod, Stays::No));
            plain(answer, &pod, None, Words::Same)
        });
        prop_assert_eq!(&answers[0], &answers[1], "{}", pod);
        Ok(())
    });
    outcome.unwrap();
}
