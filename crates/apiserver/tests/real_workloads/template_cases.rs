//! Cases about the spec of a Pod: each is tried in a Pod and in a template.

use serde_json::{Value, json};

use crate::compare::{Creation, Words, create};

/// What of a template must differ between a Pod and a Deployment is not here. Paths begin below the spec.
fn table() -> Vec<(&'static str, Value)> {
    let mut cases = rich();
    cases.extend(rich_volumes());
    cases.extend(containers());
    cases.extend(environment());
    cases.extend(handlers());
    cases.extend(resources());
    cases.extend(volumes());
    cases.extend(placement());
    cases
}

/// The cases for a kind whose Pod's spec is found at `pointer`.
pub(crate) fn creations(pointer: &str, words: Words) -> Vec<Creation> {
    let below = |edits: Value| -> Value {
        let edits = edits.as_object().unwrap();
        edits.iter().map(|(path, value)| (format!("{pointer}{path}"), value.clone())).collect()
    };
    table().into_iter().map(|(name, edits)| Creation { words, ..create(name, below(edits)) }).collect()
}

fn rich() -> Vec<(&'static str, Value)> {
    vec![
        ("nothing else", json!({})),
        ("service account", json!({"/serviceAccountName": "robot"})),
        ("old service account", json!({"/serviceAccount": "robot"})),
        (
            "everyday container",
            json!({
                "/containers/0/image": "example.org:5000/a/b:1.2",
                "/containers/0/command": ["run"],
                "/containers/0/env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                    {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
                    {"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                ],
                "/containers/0/envFrom": [{"configMapRef": {"name": "c"}}],
                "/containers/0/ports": [{"containerPort": 80}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}],
                "/containers/0/livenessProbe": {"httpGet": {"port": 80}},
                "/containers/0/readinessProbe": {"tcpSocket": {"port": "dns"}, "periodSeconds": 5},
                "/containers/0/startupProbe": {"grpc": {"port": 9000}},
                "/containers/0/lifecycle": {
                    "preStop": {"exec": {"command": ["stop"]}}, "postStart": {"httpGet": {"port": 80, "path": "/x"}},
                },
                "/containers/0/resources": {
                    "limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "100m"},
                },
                "/containers/0/securityContext": {"runAsUser": 1000, "allowPrivilegeEscalation": false},
            }),
        ),
        (
            "init containers and a sidecar",
            json!({"/initContainers": [
                {"name": "setup", "image": "a@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
                {"name": "side", "image": "a:latest", "restartPolicy": "Always", "readinessProbe": {"exec": {"command": ["x"]}}},
            ]}),
        ),
        (
            "placement",
            json!({
                "/nodeSelector": {"disk": "ssd"},
                "/tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
                "/topologySpreadConstraints": [{
                    "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "a"}},
                }],
                "/affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}},
                ]}},
            }),
        ),
        ("host network", json!({"/hostNetwork": true, "/containers/0/ports": [{"containerPort": 80}]})),
        ("dns", json!({"/dnsPolicy": "None", "/dnsConfig": {"nameservers": ["1.2.3.4"]}})),
        ("tolerates all", json!({"/tolerations": [{"operator": "Exists"}]})),
    ]
}

fn rich_volumes() -> Vec<(&'static str, Value)> {
    vec![(
        "all kinds of volumes",
        json!({"/volumes": [
            {"name": "a"},
            {"name": "b", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "c", "secret": {"secretName": "s"}},
            {"name": "d", "configMap": {"name": "c", "items": [{"key": "k", "path": "p/q"}]}},
            {"name": "e", "hostPath": {"path": "/data"}},
            {"name": "f", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "g", "downwardAPI": {"items": [
                {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                {"path": "cpu", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}},
            ]}},
            {"name": "h", "projected": {"sources": [
                {"secret": {"name": "s"}},
                {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            ]}},
            {"name": "i", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            {"name": "j", "nfs": {"server": "s", "path": "/p"}},
            {"name": "k", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a", "lun": 0}},
            {"name": "l", "image": {"reference": "example.org/a:1"}},
            {"name": "m", "csi": {"driver": "d.example.org"}},
        ]}),
    )]
}

fn containers() -> Vec<(&'static str, Value)> {
    vec![
        ("no container", json!({"/containers": null})),
        ("no name of a container", json!({"/containers/0/name": null})),
        ("wrong name of a container", json!({"/containers/0/name": "Main_1"})),
        ("long name of a container", json!({"/containers/0/name": "a".repeat(64)})),
        ("name of a container with dots", json!({"/containers/0/name": "a.b"})),
        ("no image", json!({"/containers/0/image": null})),
        ("same name twice", json!({"/containers/1": {"name": "main", "image": "a"}})),
        ("same name in init", json!({"/initContainers": [{"name": "main", "image": "a"}]})),
        ("wrong pull policy", json!({"/containers/0/imagePullPolicy": "Sometimes"})),
        ("wrong message policy", json!({"/containers/0/terminationMessagePolicy": "Mail"})),
        ("no port", json!({"/containers/0/ports": [{"name": "a"}]})),
        ("large port", json!({"/containers/0/ports": [{"containerPort": 70000}]})),
        ("wrong protocol", json!({"/containers/0/ports": [{"containerPort": 1, "protocol": "ICMP"}]})),
        ("wrong port name", json!({"/containers/0/ports": [{"containerPort": 1, "name": "Web--Port"}]})),
        (
            "port name twice",
            json!({"/containers/0/ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}),
        ),
        (
            "host port twice",
            json!({"/containers/0/ports": [
                {"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]}),
        ),
        (
            "probe on init",
            json!({"/initContainers": [{"name": "i", "image": "a", "livenessProbe": {"exec": {"command": ["x"]}}}]}),
        ),
        ("wrong user", json!({"/containers/0/securityContext": {"runAsUser": -1}})),
        ("wrong group of the pod", json!({"/securityContext": {"fsGroup": -5}})),
        ("wrong hostname", json!({"/nodeName": "Node_1"})),
        ("wrong service account", json!({"/serviceAccountName": "No Name"})),
        ("wrong deadline", json!({"/activeDeadlineSeconds": 0})),
        ("wrong dns policy", json!({"/dnsPolicy": "Guess"})),
        ("no dns config", json!({"/dnsPolicy": "None"})),
        ("wrong restart policy", json!({"/restartPolicy": "Perhaps"})),
        (
            "host port on host network",
            json!({"/hostNetwork": true, "/containers/0/ports": [{"containerPort": 80, "hostPort": 81}]}),
        ),
    ]
}

fn environment() -> Vec<(&'static str, Value)> {
    let variable = |variable: Value| json!({"/containers/0/env": [variable]});
    vec![
        ("variable without name", variable(json!({"value": "1"}))),
        ("variable with =", variable(json!({"name": "a=b"}))),
        (
            "value and source",
            variable(
                json!({"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
            ),
        ),
        (
            "two sources",
            variable(json!({"name": "A", "valueFrom": {
            "fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "a", "key": "b"}}})),
        ),
        ("source without anything", variable(json!({"name": "A", "valueFrom": {"fieldRef": {}}}))),
        ("unknown field", variable(json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}))),
        (
            "field not here",
            variable(json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}})),
        ),
        (
            "unknown resource",
            variable(json!({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.x"}}})),
        ),
        (
            "wrong key",
            variable(json!({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "a b"}}})),
        ),
        ("no key", variable(json!({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c"}}}))),
        ("envFrom of nothing", json!({"/containers/0/envFrom": [{"prefix": "A"}]})),
        ("envFrom without name", json!({"/containers/0/envFrom": [{"secretRef": {}}]})),
    ]
}

fn handlers() -> Vec<(&'static str, Value)> {
    let probe = |probe: Value| json!({"/containers/0/livenessProbe": probe});
    vec![
        ("probe without handler", probe(json!({"periodSeconds": 5}))),
        ("two handlers", probe(json!({"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}}))),
        (
            "negative numbers",
            probe(json!({
            "exec": {"command": ["x"]}, "initialDelaySeconds": -1, "periodSeconds": -2, "timeoutSeconds": -3,
            "failureThreshold": -4})),
        ),
        ("success threshold", probe(json!({"exec": {"command": ["x"]}, "successThreshold": 2}))),
        ("exec without command", probe(json!({"exec": {}}))),
        ("probe of port 0", probe(json!({"tcpSocket": {"port": 0}}))),
        ("wrong scheme", probe(json!({"httpGet": {"port": 80, "scheme": "FTP"}}))),
        (
            "wrong header",
            probe(json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": "c"}]}})),
        ),
        ("named port of a probe", probe(json!({"httpGet": {"port": "UPPER"}}))),
        (
            "grace of readiness",
            json!({"/containers/0/readinessProbe": {
            "exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 5}}),
        ),
        ("grace of liveness", probe(json!({"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 0}))),
        ("hook without handler", json!({"/containers/0/lifecycle": {"preStop": {}}})),
        ("long sleep", json!({"/containers/0/lifecycle": {"preStop": {"sleep": {"seconds": 60}}}})),
    ]
}

fn resources() -> Vec<(&'static str, Value)> {
    let resources = |resources: Value| json!({"/containers/0/resources": resources});
    vec![
        ("more than the limit", resources(json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}))),
        ("negative", resources(json!({"requests": {"memory": "-1Gi"}}))),
        ("unknown", resources(json!({"requests": {"gpu": "1"}}))),
        ("not of containers", resources(json!({"requests": {"pods": "1"}}))),
        ("half a device", resources(json!({"limits": {"example.com/gpu": "500m"}}))),
        ("device without limit", resources(json!({"requests": {"example.com/gpu": "1"}}))),
        (
            "other limit of a device",
            resources(json!({"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}})),
        ),
        ("wrong name", resources(json!({"requests": {"a b": "1"}}))),
        ("small amounts", resources(json!({"requests": {"cpu": "100u", "memory": "1k"}}))),
        ("huge pages alone", resources(json!({"limits": {"hugepages-2Mi": "2Mi"}}))),
        ("guaranteed", resources(json!({"limits": {"cpu": "1", "memory": "1Gi"}}))),
    ]
}

fn volumes() -> Vec<(&'static str, Value)> {
    let volume = |volume: Value| json!({"/volumes": [volume]});
    let mount = |mount: Value| json!({"/volumes": [{"name": "v"}], "/containers/0/volumeMounts": [mount]});
    vec![
        ("volume without name", volume(json!({"emptyDir": {}}))),
        ("wrong name of a volume", volume(json!({"name": "A_b"}))),
        ("volume twice", json!({"/volumes": [{"name": "a"}, {"name": "a"}]})),
        ("two kinds of volume", volume(json!({"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}))),
        ("host path without path", volume(json!({"name": "a", "hostPath": {"path": ""}}))),
        ("host path up", volume(json!({"name": "a", "hostPath": {"path": "/a/../b"}}))),
        ("wrong host path type", volume(json!({"name": "a", "hostPath": {"path": "/a", "type": "Cube"}}))),
        ("secret without name", volume(json!({"name": "a", "secret": {}}))),
        ("config map without name", volume(json!({"name": "a", "configMap": {}}))),
        ("wrong mode", volume(json!({"name": "a", "secret": {"secretName": "s", "defaultMode": 1000}}))),
        (
            "item without path",
            volume(json!({"name": "a", "secret": {"secretName": "s", "items": [{"key": "k"}]}})),
        ),
        (
            "item up",
            volume(
                json!({"name": "a", "secret": {"secretName": "s", "items": [{"key": "k", "path": "../x"}]}}),
            ),
        ),
        (
            "item absolute",
            volume(
                json!({"name": "a", "secret": {"secretName": "s", "items": [{"key": "k", "path": "/x"}]}}),
            ),
        ),
        ("claim without name", volume(json!({"name": "a", "persistentVolumeClaim": {}}))),
        ("downward file of nothing", volume(json!({"name": "a", "downwardAPI": {"items": [{"path": "x"}]}}))),
        (
            "downward field not here",
            volume(json!({"name": "a", "downwardAPI": {"items": [
            {"path": "x", "fieldRef": {"fieldPath": "spec.nodeName"}}]}})),
        ),
        ("nfs without server", volume(json!({"name": "a", "nfs": {"path": "x"}}))),
        ("mount of no volume", mount(json!({"name": "x", "mountPath": "/a"}))),
        ("mount without path", mount(json!({"name": "v"}))),
        ("mount without name", mount(json!({"mountPath": "/a"}))),
        ("mount up", mount(json!({"name": "v", "mountPath": "/a", "subPath": "../a"}))),
        ("mount absolute", mount(json!({"name": "v", "mountPath": "/a", "subPath": "/a"}))),
        (
            "mount both ways",
            mount(json!({"name": "v", "mountPath": "/a", "subPath": "a", "subPathExpr": "b"})),
        ),
        (
            "mount twice",
            json!({"/volumes": [{"name": "v"}], "/containers/0/volumeMounts": [
            {"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a"}]}),
        ),
    ]
}

fn placement() -> Vec<(&'static str, Value)> {
    let toleration = |toleration: Value| json!({"/tolerations": [toleration]});
    let node = |wish: Value| {
        json!({"/affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [wish]}]}}}})
    };
    vec![
        ("wrong node selector", json!({"/nodeSelector": {"a b": "c d"}})),
        ("toleration of nothing", toleration(json!({"effect": "NoSchedule"}))),
        ("toleration with value", toleration(json!({"key": "a", "operator": "Exists", "value": "b"}))),
        ("wrong operator", toleration(json!({"key": "a", "operator": "Like"}))),
        ("wrong effect", toleration(json!({"key": "a", "operator": "Exists", "effect": "Run"}))),
        (
            "seconds of another effect",
            toleration(
                json!({"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}),
            ),
        ),
        ("node without values", node(json!({"key": "a", "operator": "In"}))),
        ("node with values", node(json!({"key": "a", "operator": "Exists", "values": ["b"]}))),
        ("node with two numbers", node(json!({"key": "a", "operator": "Gt", "values": ["1", "2"]}))),
        ("node by wrong operator", node(json!({"key": "a", "operator": "Near"}))),
        (
            "no terms",
            json!({"/affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}}),
        ),
        (
            "no topology",
            json!({"/affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]}}}),
        ),
        (
            "no weight",
            json!({"/affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 0, "podAffinityTerm": {"topologyKey": "a"}}]}}}),
        ),
        (
            "wrong skew",
            json!({"/topologySpreadConstraints": [
            {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Cry"}]}),
        ),
        (
            "spread twice",
            json!({"/topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"},
            {"maxSkew": 2, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}]}),
        ),
    ]
}
