//! Objects of every built-in kind in telling states.

use muster_apiserver::table;
use serde_json::{Value, json};

use crate::server::Server;
use crate::tables::compare;

/// Resource id, path of the collection (`NS` is the namespace), objects, each with its status.
type Case = (&'static str, &'static str, Vec<(Value, Value)>);

fn template() -> Value {
    json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "one", "image": "x:1"}, {"name": "two", "image": "y:2"}]},
    })
}

fn named(name: &str, rest: Value) -> Value {
    let mut object = rest;
    object["metadata"]["name"] = name.into();
    object
}

fn expressions() -> Value {
    json!({"matchLabels": {"app": "a"}, "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["x", "b"]},
        {"key": "zone", "operator": "NotIn", "values": ["q"]},
        {"key": "abc", "operator": "DoesNotExist"},
        {"key": "aa", "operator": "Exists"},
    ]})
}

fn labelled() -> Value {
    let mut template = template();
    template["metadata"]["labels"] = json!({"app": "a", "tier": "x", "aa": "1"});
    template
}

fn apps() -> Vec<Case> {
    let simple = json!({"matchLabels": {"app": "a"}});
    let spec = |extra: Value| {
        let mut spec = json!({"selector": simple, "template": template()});
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"spec": spec})
    };
    let status = json!({
        "replicas": 3, "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1, "observedGeneration": 1,
    });
    let daemons = json!({
        "desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3, "updatedNumberScheduled": 2,
        "numberAvailable": 1, "numberMisscheduled": 0,
    });
    let complex = json!({"spec": {"selector": expressions(), "template": labelled()}});
    let mut chosen = spec(json!({}));
    chosen["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd", "arch": "a"});
    let owned = json!({
        "metadata": {"ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "1", "controller": true}]},
        "revision": 3, "data": {},
    });
    vec![
        (
            "apps/deployments",
            "/apis/apps/v1/namespaces/NS/deployments",
            vec![
                (named("a", spec(json!({"replicas": 3}))), status.clone()),
                (named("b", complex.clone()), json!({})),
            ],
        ),
        (
            "apps/statefulsets",
            "/apis/apps/v1/namespaces/NS/statefulsets",
            vec![
                (named("a", spec(json!({"replicas": 3, "serviceName": "s"}))), status.clone()),
                (named("b", spec(json!({"serviceName": "s"}))), json!({})),
            ],
        ),
        (
            "apps/replicasets",
            "/apis/apps/v1/namespaces/NS/replicasets",
            vec![
                (named("a", spec(json!({"replicas": 3}))), json!({"replicas": 3, "readyReplicas": 1})),
                (named("b", complex), json!({})),
            ],
        ),
        (
            "apps/daemonsets",
            "/apis/apps/v1/namespaces/NS/daemonsets",
            vec![(named("a", spec(json!({}))), daemons), (named("b", chosen), json!({}))],
        ),
        (
            "apps/controllerrevisions",
            "/apis/apps/v1/namespaces/NS/controllerrevisions",
            vec![
                (named("a", owned), Value::Null),
                (named("b", json!({"revision": 1, "data": {}})), Value::Null),
            ],
        ),
    ]
}

fn batch() -> Vec<Case> {
    let mut template = template();
    template["spec"]["restartPolicy"] = "Never".into();
    let job = |extra: Value| {
        let mut spec = json!({"template": template});
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"spec": spec})
    };
    let times = json!({"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:03:05Z"});
    let condition =
        |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:03:05Z"});
    let complete = json!({
        "startTime": times["startTime"], "completionTime": times["completionTime"], "succeeded": 1, "active": 0,
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        "uncountedTerminatedPods": {}, "ready": 0,
    });
    let failed = json!({
        "startTime": times["startTime"], "failed": 1, "active": 0, "ready": 0,
        "conditions": [condition("FailureTarget"), condition("Failed")], "uncountedTerminatedPods": {},
    });
    let cron = |extra: Value| {
        let mut spec = json!({"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}});
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"spec": spec})
    };
    vec![
        (
            "batch/jobs",
            "/apis/batch/v1/namespaces/NS/jobs",
            vec![
                (named("complete", job(json!({"completions": 1}))), complete),
                (named("failed", job(json!({}))), failed),
                (
                    named("queue", job(json!({"parallelism": 3}))),
                    json!({"startTime": "2026-01-01T00:00:00Z"}),
                ),
                (
                    named("suspended", job(json!({"suspend": true, "completions": 4}))),
                    json!({"conditions": [condition("Suspended")]}),
                ),
                (named("target", job(json!({}))), json!({"conditions": [condition("FailureTarget")]})),
            ],
        ),
        (
            "batch/cronjobs",
            "/apis/batch/v1/namespaces/NS/cronjobs",
            vec![
                (named("a", cron(json!({}))), json!({})),
                (
                    named("b", cron(json!({"suspend": true, "timeZone": "Etc/UTC"}))),
                    json!({"lastScheduleTime": "2026-01-01T00:00:00Z", "active": [{"kind": "Job", "name": "x"}]}),
                ),
            ],
        ),
    ]
}

fn configuration() -> Vec<Case> {
    let none = Value::Null;
    vec![
        (
            "/configmaps",
            "/api/v1/namespaces/NS/configmaps",
            vec![
                (named("a", json!({"data": {"x": "1"}, "binaryData": {"y": "AA=="}})), none.clone()),
                (named("b", json!({})), none.clone()),
            ],
        ),
        (
            "/secrets",
            "/api/v1/namespaces/NS/secrets",
            vec![
                (named("a", json!({"data": {"x": "AA=="}})), none.clone()),
                (named("b", json!({"type": "example.org/t"})), none.clone()),
            ],
        ),
        (
            "/serviceaccounts",
            "/api/v1/namespaces/NS/serviceaccounts",
            vec![(named("a", json!({})), none.clone())],
        ),
        (
            "coordination.k8s.io/leases",
            "/apis/coordination.k8s.io/v1/namespaces/NS/leases",
            vec![
                (named("a", json!({"spec": {"holderIdentity": "me"}})), none.clone()),
                (named("b", json!({})), none.clone()),
            ],
        ),
        (
            "policy/poddisruptionbudgets",
            "/apis/policy/v1/namespaces/NS/poddisruptionbudgets",
            vec![
                (
                    named("a", json!({"spec": {"minAvailable": "50%", "selector": {}}})),
                    json!({"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3}),
                ),
                (named("b", json!({"spec": {"maxUnavailable": 1, "selector": {}}})), none.clone()),
            ],
        ),
    ]
}

fn of_the_cluster() -> Vec<Case> {
    let none = Value::Null;
    vec![
        (
            "storage.k8s.io/storageclasses",
            "/apis/storage.k8s.io/v1/storageclasses",
            vec![
                (named("NS-a", json!({"provisioner": "p"})), none.clone()),
                (
                    named(
                        "NS-b",
                        json!({
                            "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
                            "provisioner": "p", "reclaimPolicy": "Retain", "allowVolumeExpansion": true,
                            "volumeBindingMode": "WaitForFirstConsumer",
                        }),
                    ),
                    none,
                ),
            ],
        ),
        ("/namespaces", "/api/v1/namespaces", vec![]),
        (
            "apiextensions.k8s.io/customresourcedefinitions",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            vec![],
        ),
        ("rbac.authorization.k8s.io/roles", "/apis/rbac.authorization.k8s.io/v1/roles", vec![]),
        ("rbac.authorization.k8s.io/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterroles", vec![]),
        ("rbac.authorization.k8s.io/rolebindings", "/apis/rbac.authorization.k8s.io/v1/rolebindings", vec![]),
        (
            "rbac.authorization.k8s.io/clusterrolebindings",
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            vec![(
                named(
                    "NS",
                    json!({
                        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                        "subjects": [
                            {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "u"},
                            {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "g"},
                            {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "h"},
                            {"kind": "ServiceAccount", "namespace": "default", "name": "s"},
                        ],
                    }),
                ),
                Value::Null,
            )],
        ),
    ]
}

#[test]
fn workloads() {
    check("table-workloads", apps());
}

#[test]
fn jobs() {
    check("table-jobs", batch());
}

#[test]
fn small_kinds() {
    let mut all = configuration();
    all.extend(of_the_cluster());
    check("table-config", all);
}

/// Makes the objects with their status, and compares the tables of their collections.
pub(crate) fn check(namespace: &str, cases: Vec<Case>) {
    let server = Server::new();
    let namespaces = "/api/v1/namespaces";
    server.send("POST", namespaces, &json!({"metadata": {"name": namespace}}));
    for (id, path, objects) in cases {
        let path = path.replace("NS", namespace);
        for (object, status) in objects {
            let object: Value = serde_json::from_str(&object.to_string().replace("NS", namespace)).unwrap();
            let made = server.send("POST", &path, &object);
            let name = made["metadata"]["name"].as_str().unwrap_or_else(|| panic!("{path}: {made}"));
            if status.is_object() {
                let answer =
                    server.send("PATCH", &format!("{path}/{name}/status"), &json!({"status": status}));
                assert_eq!(answer["metadata"]["name"], name, "{answer}");
            }
        }
        compare(&server, &*table::built_in(id).unwrap(), &path);
    }
}
