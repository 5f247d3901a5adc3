//! Pods, nodes, volumes, services, events and endpoints in telling states.

use serde_json::{Value, json};

use crate::kinds::check;

fn pod(name: &str, extra: &Value, status: Value) -> (Value, Value) {
    let mut spec = json!({"containers": [{"name": "one", "image": "x"}, {"name": "two", "image": "y"}]});
    spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    (json!({"metadata": {"name": name}, "spec": spec}), status)
}

/// The status of a container.
fn container(name: &str, ready: bool, restarts: u32, state: &Value, last: &Value) -> Value {
    json!({
        "name": name, "ready": ready, "restartCount": restarts, "state": state, "lastState": last,
        "image": "x", "imageID": "", "started": ready,
    })
}

fn running(name: &str) -> Value {
    container(name, true, 0, &json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}), &json!({}))
}

fn ended(code: i64, reason: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason, "finishedAt": "2026-01-01T00:00:00Z"}})
}

fn waiting(reason: &str) -> Value {
    json!({"waiting": {"reason": reason}})
}

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status})
}

fn main_states() -> Vec<(Value, Value)> {
    let none = json!({});
    let held = json!({"schedulingGates": [{"name": "example.org/gate"}]});
    let gates =
        json!({"readinessGates": [{"conditionType": "example.org/a"}, {"conditionType": "example.org/b"}]});
    let back_off = container("one", false, 4, &waiting("CrashLoopBackOff"), &ended(1, "Error"));
    let signal = json!({"terminated": {"exitCode": 137, "signal": 9}});
    let code = json!({"terminated": {"exitCode": 3}});
    let done = container("two", false, 0, &ended(0, "Completed"), &none);
    let failed = container("two", false, 0, &ended(2, "Error"), &none);
    vec![
        pod("empty", &none, json!({})),
        pod("gated", &held, json!({})),
        pod(
            "gates",
            &gates,
            json!({
                "phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}], "nominatedNodeName": "n",
                "conditions": [condition("example.org/a", "True"), condition("example.org/b", "False")],
                "containerStatuses": [running("one"), running("two")],
            }),
        ),
        pod("crash", &none, json!({"phase": "Running", "containerStatuses": [back_off, running("two")]})),
        pod(
            "signal",
            &none,
            json!({"phase": "Failed", "containerStatuses": [container("one", false, 0, &signal, &none)]}),
        ),
        pod(
            "code",
            &none,
            json!({"phase": "Failed", "containerStatuses": [container("one", false, 0, &code, &none)]}),
        ),
        pod("evicted", &none, json!({"phase": "Failed", "reason": "Evicted"})),
        pod("done", &none, json!({"phase": "Succeeded", "containerStatuses": [done]})),
        pod("half", &none, json!({"phase": "Running", "containerStatuses": [running("one"), done]})),
        pod(
            "half-ready",
            &none,
            json!({
                "phase": "Running", "conditions": [condition("Ready", "True")],
                "containerStatuses": [running("one"), done],
            }),
        ),
        pod(
            "mixed",
            &none,
            json!({
                "phase": "Running",
                "containerStatuses": [container("one", false, 0, &ended(0, "Completed"), &none), failed],
            }),
        ),
    ]
}

fn init_states() -> Vec<(Value, Value)> {
    let none = json!({});
    let two = json!({"initContainers": [{"name": "i", "image": "x"}, {"name": "j", "image": "x"}]});
    let sidecar = json!({"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}, {"name": "j", "image": "x"}]});
    let init = |states: Value| json!({"phase": "Pending", "initContainerStatuses": states});
    let through = container("i", true, 1, &ended(0, "Completed"), &ended(1, "Error"));
    let mut beside = running("i");
    beside["restartCount"] = 2.into();
    beside["lastState"] = ended(1, "Error");
    let signal = json!({"terminated": {"exitCode": 137, "signal": 9}});
    vec![
        pod("init-first", &two, init(json!([container("i", false, 0, &waiting("PodInitializing"), &none)]))),
        pod("init-pull", &two, init(json!([container("i", false, 0, &waiting("ErrImagePull"), &none)]))),
        pod("init-error", &two, init(json!([container("i", false, 0, &ended(1, "Error"), &none)]))),
        pod("init-signal", &two, init(json!([container("i", false, 0, &signal, &none)]))),
        pod(
            "init-second",
            &two,
            init(json!([through, container("j", false, 0, &json!({"running": {}}), &none)])),
        ),
        pod(
            "sidecar",
            &sidecar,
            init(json!([beside, container("j", false, 0, &json!({"running": {}}), &none)])),
        ),
        pod(
            "sidecar-up",
            &sidecar,
            json!({
                "phase": "Running", "conditions": [condition("Initialized", "True")],
                "initContainerStatuses": [beside, container("j", false, 3, &ended(0, "Completed"), &ended(1, "Error"))],
                "containerStatuses": [running("one"), running("two")],
            }),
        ),
    ]
}

#[test]
fn pods() {
    let mut all = main_states();
    all.extend(init_states());
    check("table-pods", vec![("/pods", "/api/v1/namespaces/NS/pods", all)]);
}

#[test]
fn nodes() {
    let info = json!({
        "kubeletVersion": "v1", "osImage": "Linux", "kernelVersion": "6", "containerRuntimeVersion": "c://1",
        "architecture": "amd64", "machineID": "", "systemUUID": "", "bootID": "", "kubeProxyVersion": "",
        "operatingSystem": "",
    });
    let addresses =
        json!([{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "ExternalIP", "address": "1.2.3.4"}]);
    let roles = json!({
        "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "x",
    });
    let cases = vec![
        (json!({"metadata": {"name": "NS-bare"}}), json!({})),
        (
            json!({"metadata": {"name": "NS-full", "labels": roles}}),
            json!({"nodeInfo": info, "addresses": addresses, "conditions": [condition("Ready", "True")]}),
        ),
        (
            json!({"metadata": {"name": "NS-ill"}, "spec": {"unschedulable": true}}),
            json!({"conditions": [condition("Ready", "Unknown")]}),
        ),
    ];
    check("table-nodes", vec![("/nodes", "/api/v1/nodes", cases)]);
}

#[test]
fn volumes_and_claims() {
    let volume = |name: &str, extra: Value| {
        let mut spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce", "ReadOnlyMany"],
            "hostPath": {"path": "/x"},
        });
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let claim = |name: &str, extra: Value| {
        let mut spec =
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let mut old = volume("NS-old", json!({"accessModes": ["ReadWriteOncePod"]}));
    old["metadata"]["annotations"] = json!({"volume.beta.kubernetes.io/storage-class": "slow"});
    let volumes = vec![
        (volume("NS-free", json!({})), json!({})),
        (
            volume(
                "NS-bound",
                json!({"claimRef": {"namespace": "n", "name": "c"}, "storageClassName": "fast", "volumeMode": "Block"}),
            ),
            json!({"phase": "Failed", "reason": "Lost"}),
        ),
        (old, json!({"phase": "Available"})),
    ];
    let claims = vec![
        (claim("open", json!({"storageClassName": "fast"})), json!({"phase": "Pending"})),
        (
            claim("bound", json!({"volumeName": "v", "volumeAttributesClassName": "gold"})),
            json!({"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]}),
        ),
        (claim("lost", json!({"volumeName": "v"})), json!({"phase": "Lost"})),
    ];
    check(
        "table-volumes",
        vec![
            ("/persistentvolumes", "/api/v1/persistentvolumes", volumes),
            ("/persistentvolumeclaims", "/api/v1/namespaces/NS/persistentvolumeclaims", claims),
        ],
    );
}

#[test]
fn services() {
    let service = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}]);
    let ingress = json!({"loadBalancer": {"ingress": [{"hostname": "z.example.org"}, {"ip": "1.2.3.4"}]}});
    let cases = vec![
        (service("plain", json!({"ports": ports, "selector": {"b": "2", "a": "1"}})), Value::Null),
        (service("headless", json!({"clusterIP": "None"})), Value::Null),
        (service("outside", json!({"ports": ports, "externalIPs": ["9.9.9.9", "8.8.8.8"]})), Value::Null),
        (service("on-nodes", json!({"type": "NodePort", "ports": ports})), Value::Null),
        (service("balanced", json!({"type": "LoadBalancer", "ports": ports})), ingress.clone()),
        (
            service("both", json!({"type": "LoadBalancer", "ports": ports, "externalIPs": ["9.9.9.9"]})),
            ingress,
        ),
        (service("pending", json!({"type": "LoadBalancer", "ports": ports})), Value::Null),
        (service("alias", json!({"type": "ExternalName", "externalName": "example.org"})), Value::Null),
    ];
    check("table-services", vec![("/services", "/api/v1/namespaces/NS/services", cases)]);
}

#[test]
fn events() {
    let event = |name: &str, extra: Value| {
        let mut event = json!({
            "metadata": {"name": name}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "NS"},
            "reason": "Because", "message": " spaced ", "type": "Normal",
        });
        event.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        (event, Value::Null)
    };
    let times = json!({"firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-02-01T00:00:00Z"});
    let cases = vec![
        event("bare", json!({})),
        event(
            "counted",
            json!({
                "firstTimestamp": times["firstTimestamp"], "lastTimestamp": times["lastTimestamp"], "count": 7,
                "source": {"component": "c", "host": "h"},
                "involvedObject": {"kind": "Pod", "name": "p", "namespace": "NS", "fieldPath": "spec.containers{a}"},
            }),
        ),
        event(
            "series",
            json!({
                "eventTime": "2026-01-01T00:00:00.000000Z", "action": "Do",
                "reportingComponent": "example.org/r", "reportingInstance": "i",
                "series": {"count": 3, "lastObservedTime": "2026-03-01T00:00:00.000000Z"},
            }),
        ),
        event("about-all", json!({"involvedObject": {"kind": "Node", "namespace": "NS"}})),
    ];
    check(
        "table-events",
        vec![
            ("/events", "/api/v1/namespaces/NS/events", cases),
            ("events.k8s.io/events", "/apis/events.k8s.io/v1/namespaces/NS/events", vec![]),
        ],
    );
}

#[test]
fn endpoints() {
    let addresses = |count: usize| -> Vec<Value> {
        (1..=count).map(|last| json!({"ip": format!("10.0.0.{last}")})).collect()
    };
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let endpoints = vec![
        (json!({"metadata": {"name": "none"}}), Value::Null),
        (json!({"metadata": {"name": "bare"}, "subsets": [{"addresses": addresses(2)}]}), Value::Null),
        (
            json!({"metadata": {"name": "many"}, "subsets": [{"addresses": addresses(4), "ports": ports}]}),
            Value::Null,
        ),
        (
            json!({"metadata": {"name": "waiting"}, "subsets": [{"notReadyAddresses": addresses(1), "ports": ports}]}),
            Value::Null,
        ),
        (
            json!({"metadata": {"name": "v6"}, "subsets": [{"addresses": [{"ip": "fd00::1"}], "ports": [{"port": 1}]}]}),
            Value::Null,
        ),
    ];
    let slice = |name: &str, ports: Value, endpoints: Value| {
        (
            json!({"metadata": {"name": name}, "addressType": "IPv4", "ports": ports, "endpoints": endpoints}),
            Value::Null,
        )
    };
    let slices = vec![
        slice("empty", json!([]), json!([])),
        slice(
            "many",
            json!([{"name": "a", "port": 1}, {"name": "b"}, {"name": "c", "port": 3}, {"name": "d", "port": 4}]),
            json!([{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2", "10.0.0.3"]}, {"addresses": ["10.0.0.4"]}]),
        ),
        slice("all", json!([{}]), json!([{"addresses": ["10.0.0.1"]}])),
    ];
    check(
        "table-endpoints",
        vec![
            ("/endpoints", "/api/v1/namespaces/NS/endpoints", endpoints),
            (
                "discovery.k8s.io/endpointslices",
                "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices",
                slices,
            ),
        ],
    );
}
