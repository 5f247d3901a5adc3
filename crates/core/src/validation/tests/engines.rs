//! An engine that must hold together.

use super::*;

/// Where something is wrong after one value was put somewhere.
fn with(pointer: &str, value: Value) -> Vec<String> {
    let mut spec = engine();
    *spec.pointer_mut(pointer).unwrap() = value;
    let engine = ReplicationEngine::new("ledger", read(spec));
    check_engine(&engine).violations.into_iter().map(|v| v.path).collect()
}

#[test]
fn what_leads_nowhere_within_an_engine_is_found() {
    assert!(check_engine(&ReplicationEngine::new("ledger", read(engine()))).is_valid());
    let main = "spec.template.containers[0]";
    let rows = [
        (
            "/versions/0/images",
            json!({"main": "x", "other": "x"}),
            "spec.versions[0].images[other]".to_owned(),
        ),
        ("/parameters/0/pattern", json!("("), "spec.parameters[0].pattern".to_owned()),
        ("/parameters/0/pattern", json!("a{1000}{1000}{1000}"), "spec.parameters[0].pattern".to_owned()),
        ("/parameters/0/default", json!("x"), "spec.parameters[0].default".to_owned()),
        ("/template/containers/0/mounts/1/name", json!("nowhere"), format!("{main}.mounts[1].name")),
        (
            "/template/containers/0/env/1/secretKey/name",
            json!("none"),
            format!("{main}.env[1].secretKey.name"),
        ),
        ("/template/containers/0/env/1/secretKey/key", json!("none"), format!("{main}.env[1].secretKey.key")),
        (
            "/template/containers/0/resources",
            json!({"limits": {"cpu": "-1"}}),
            format!("{main}.resources.limits[cpu]"),
        ),
        (
            "/namespaceSelector/matchLabels",
            json!({"-": "ok"}),
            "spec.namespaceSelector.matchLabels[-]".to_owned(),
        ),
        (
            "/namespaceSelector/matchLabels",
            json!({"ok": "-"}),
            "spec.namespaceSelector.matchLabels[ok]".to_owned(),
        ),
        (
            "/namespaceSelector/matchExpressions/0/values",
            json!([]),
            "spec.namespaceSelector.matchExpressions[0].values".to_owned(),
        ),
        (
            "/namespaceSelector/matchExpressions/0/operator",
            json!("Exists"),
            "spec.namespaceSelector.matchExpressions[0].values".to_owned(),
        ),
        (
            "/namespaceSelector/matchExpressions/0/operator",
            json!("Gt"),
            "spec.namespaceSelector.matchExpressions[0].operator".to_owned(),
        ),
        (
            "/namespaceSelector/matchExpressions/0/key",
            json!("a/b/c"),
            "spec.namespaceSelector.matchExpressions[0].key".to_owned(),
        ),
    ];
    for (pointer, value, path) in rows {
        assert_eq!(with(pointer, value), [path]);
    }
}

#[test]
fn the_agent_starts_and_watches_main() {
    let mut spec = engine();
    let probe = json!({"tcpSocket": {"port": 1}});
    for (field, value) in [("command", json!(["x"])), ("args", json!(["x"])), ("startupProbe", probe.clone())]
    {
        spec["template"]["containers"][0][field] = value;
    }
    spec["template"]["containers"][0]["livenessProbe"] = probe.clone();
    spec["template"]["containers"][0]["readinessProbe"] = probe;
    spec["drivers"][0]["template"]["containers"][0]["name"] = json!("main");
    spec["drivers"][0]["template"]["containers"][0]["command"] = json!(["x"]);
    spec["drivers"][0]["template"]["containers"][0]["mounts"] = json!([{"name": "data", "mountPath": "/x"}]);
    let report = check_engine(&ReplicationEngine::new("ledger", read(spec)));
    let paths: Vec<&str> = report.violations.iter().map(|v| v.path.as_str()).collect();
    let main = "spec.template.containers[0]";
    let fields = ["command", "args", "livenessProbe", "readinessProbe", "startupProbe"];
    let mut expected: Vec<String> = fields.iter().map(|field| format!("{main}.{field}")).collect();
    expected.push("spec.drivers[0].template.containers[0].mounts[0].name".to_owned());
    assert_eq!(paths, expected, "a driver has no data volume and no agent");
}

#[test]
fn what_could_not_be_built_is_found() {
    let main = "spec.template.containers[0]";
    let rows = [
        ("/clientPort", json!(7443), "spec.clientPort".to_owned()),
        ("/ports/0/port", json!(7080), "spec.ports[0].port".to_owned()),
        ("/ports/0/name", json!("muster-x"), "spec.ports[0].name".to_owned()),
        ("/dataPath", json!("/muster/data"), "spec.dataPath".to_owned()),
        ("/dataPath", json!("/"), "spec.dataPath".to_owned()),
        ("/dataPath", json!("/a/../b"), "spec.dataPath".to_owned()),
        (
            "/template/containers/0/ports/0/containerPort",
            json!(7443),
            format!("{main}.ports[0].containerPort"),
        ),
        ("/template/containers/0/ports/0/name", json!("9"), format!("{main}.ports[0].name")),
        ("/template/containers/0/ports/0/name", json!("a--b"), format!("{main}.ports[0].name")),
        ("/template/containers/0/ports/0/name", json!("muster-x"), format!("{main}.ports[0].name")),
        (
            "/template/containers/0/mounts/1/mountPath",
            json!("/muster"),
            format!("{main}.mounts[1].mountPath"),
        ),
        (
            "/template/containers/0/mounts/1/mountPath",
            json!("/var/lib/ledger"),
            format!("{main}.mounts[1].mountPath"),
        ),
        (
            "/template/containers/0/mounts/1",
            json!({"name": "scratch", "mountPath": "/x", "subPath": "a/.."}),
            format!("{main}.mounts[1].subPath"),
        ),
        (
            "/template/containers/0/securityContext",
            json!({"privileged": true, "allowPrivilegeEscalation": false}),
            format!("{main}.securityContext.allowPrivilegeEscalation"),
        ),
        ("/template/containers/1/image", json!(" x"), "spec.template.containers[1].image".to_owned()),
        (
            "/template/volumes/1/configMap/items/0/path",
            json!("..x"),
            "spec.template.volumes[1].configMap.items[0].path".to_owned(),
        ),
        (
            "/template/volumes/2/secret/name",
            json!("orders-agent-ca"),
            "spec.template.volumes[2].secret.name".to_owned(),
        ),
    ];
    for (pointer, value, path) in rows {
        assert_eq!(with(pointer, value), [path], "{pointer}");
    }
    let secrets = json!([
        {"name": "accounts", "keys": [{"name": "root"}]},
        {"name": "agent-ca", "keys": [{"name": "tls.key"}]},
    ]);
    assert_eq!(with("/secrets", secrets), ["spec.secrets[1].name"]);
    let long = "f".repeat(248);
    assert_eq!(with("/files", json!({long.clone(): ""})), [format!("spec.files[{long}]")]);
    let twice = json!([{"name": "a", "port": 1}, {"name": "b", "port": 1}, {"name": "c", "port": 1, "protocol": "UDP"}]);
    assert_eq!(with("/ports", twice), ["spec.ports[1].port"]);
    let twice = json!([{"name": "a", "containerPort": 1}, {"name": "b", "containerPort": 1}]);
    assert_eq!(with("/template/containers/0/ports", twice), [format!("{main}.ports[1]")]);
}
