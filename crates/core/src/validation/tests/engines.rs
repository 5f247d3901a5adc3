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
