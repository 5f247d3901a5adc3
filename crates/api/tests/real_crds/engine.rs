//! Every rule of `ReplicationEngine`, and its bounds of note.

use muster_api::rules;
use serde_json::{Value, json};

use crate::case::{Case, REMOVED, assert_complete, bound, rule, run};

const KIND: &str = "ReplicationEngine";
const LEDGER: &str = include_str!("../manifests/engine-ledger.yaml");

fn set(pointer: &str, value: impl Into<Value>) -> Value {
    json!({pointer: value.into()})
}

/// The rules of a template, at the engine's own and at a driver's: `field` and `pointer` say where.
fn template_rules(field: &Fields, pointer: &str) -> Vec<Case> {
    let at = |rest: &str| format!("{pointer}/containers/0{rest}");
    let exec = json!({"exec": {"command": ["true"]}});
    let both = json!({"exec": {"command": ["true"]}, "tcpSocket": {"port": 1}});
    let volume = |volume: Value| set(&format!("{pointer}/volumes"), json!([volume]));
    let given = json!({"name": "v", "emptyDir": {"sizeLimit": "1Mi"}});
    let env = |env: Value| set(&at("/env"), json!([env]));
    let secret = json!({"name": "accounts", "key": "root"});
    vec![
        rule(
            field.container,
            rules::CONTAINER_NAME_RESERVED,
            set(&format!("{pointer}/containers/1"), json!({"name": "muster-agent", "image": "i"})),
            set(&format!("{pointer}/containers/1"), json!({"name": "musterer", "image": "i"})),
        ),
        rule(
            field.env,
            rules::ENV_ONE_SOURCE,
            env(json!({"name": "A", "value": "1", "secretKey": secret.clone()})),
            env(json!({"name": "A", "secretKey": secret})),
        ),
        rule(
            field.env,
            rules::ENV_NAME_RESERVED,
            env(json!({"name": "MUSTER_DATA", "value": "1"})),
            env(json!({"name": "MUSTER", "value": "1"})),
        ),
        rule(
            field.liveness,
            rules::PROBE_ONE_KIND,
            set(&at("/livenessProbe"), json!({})),
            set(&at("/livenessProbe"), exec.clone()),
        ),
        rule(
            field.readiness,
            rules::PROBE_ONE_KIND,
            set(&at("/readinessProbe"), both.clone()),
            set(&at("/readinessProbe"), exec.clone()),
        ),
        rule(
            field.startup,
            rules::PROBE_ONE_KIND,
            set(&at("/startupProbe"), both),
            set(&at("/startupProbe"), exec),
        ),
        rule(field.volume, rules::VOLUME_ONE_KIND, volume(json!({"name": "v"})), volume(given.clone())),
        rule(
            field.volume,
            rules::VOLUME_ONE_KIND,
            volume(json!({"name": "v", "emptyDir": {}, "secret": {"name": "accounts"}})),
            volume(json!({"name": "v", "secret": {"name": "accounts"}})),
        ),
        rule(
            field.volume,
            rules::VOLUME_NAME_RESERVED,
            volume(json!({"name": "data", "emptyDir": {}})),
            volume(given.clone()),
        ),
        rule(
            field.volume,
            rules::VOLUME_NAME_RESERVED,
            volume(json!({"name": "muster-bin", "emptyDir": {}})),
            volume(given.clone()),
        ),
        rule(
            field.size_limit,
            rules::QUANTITY_POSITIVE,
            volume(json!({"name": "v", "emptyDir": {"sizeLimit": "0"}})),
            volume(given),
        ),
    ]
}

/// The schema paths of what a template holds.
struct Fields {
    container: &'static str,
    env: &'static str,
    liveness: &'static str,
    readiness: &'static str,
    startup: &'static str,
    volume: &'static str,
    size_limit: &'static str,
}

const MEMBER: Fields = Fields {
    container: "spec.template.containers[]",
    env: "spec.template.containers[].env[]",
    liveness: "spec.template.containers[].livenessProbe",
    readiness: "spec.template.containers[].readinessProbe",
    startup: "spec.template.containers[].startupProbe",
    volume: "spec.template.volumes[]",
    size_limit: "spec.template.volumes[].emptyDir.sizeLimit",
};

const DRIVER: Fields = Fields {
    container: "spec.drivers[].template.containers[]",
    env: "spec.drivers[].template.containers[].env[]",
    liveness: "spec.drivers[].template.containers[].livenessProbe",
    readiness: "spec.drivers[].template.containers[].readinessProbe",
    startup: "spec.drivers[].template.containers[].startupProbe",
    volume: "spec.drivers[].template.volumes[]",
    size_limit: "spec.drivers[].template.volumes[].emptyDir.sizeLimit",
};

fn engine_rules() -> Vec<Case> {
    let copies = "/spec/topology/acknowledgedCopies";
    let name = "/metadata/name";
    let copies_field = "spec.topology.acknowledgedCopies";
    vec![
        rule("", rules::ENGINE_NAME, set(name, "a".repeat(64)), set(name, "a".repeat(63))),
        rule("", rules::ENGINE_NAME, set(name, "a.b"), set(name, "a-b")),
        rule(copies_field, rules::ACKNOWLEDGED_COPIES, set(copies, 0), set(copies, 1)),
        rule(copies_field, rules::ACKNOWLEDGED_COPIES, set(copies, 513), set(copies, 512)),
        rule(copies_field, rules::ACKNOWLEDGED_COPIES, set(copies, "majority"), set(copies, "Majority")),
        rule(copies_field, rules::ACKNOWLEDGED_COPIES, set(copies, "2"), set(copies, 2)),
        rule(
            "spec.template",
            rules::MAIN_GIVEN,
            json!({"/spec/template/containers/0/name": "other", "/spec/template/containers/0/image": "i"}),
            json!({"/spec/template/containers/0/image": "i"}),
        ),
        rule(
            "spec",
            rules::IMAGES_GIVEN,
            set("/spec/versions/1/images", json!({"shipper": "i"})),
            set("/spec/versions/1/images", json!({"main": "i"})),
        ),
        rule(
            "spec",
            rules::IMAGES_GIVEN,
            set("/spec/versions/1/images", REMOVED),
            json!({"/spec/versions/1/images": REMOVED, "/spec/template/containers/0/image": "i"}),
        ),
        rule(
            "spec.files",
            rules::FILE_NAMES,
            set("/spec/files", json!({"../escape": "x"})),
            set("/spec/files", json!({"a_b-c.d": "x"})),
        ),
        rule(
            "spec.files",
            rules::FILE_NAMES,
            set("/spec/files", json!({"a".repeat(254): "x"})),
            set("/spec/files", json!({"a".repeat(253): "x"})),
        ),
        rule(
            "spec.drivers[]",
            rules::DRIVER_IMAGES_GIVEN,
            set("/spec/drivers/0/template/containers/0/image", REMOVED),
            set("/spec/drivers/0/template/containers/0/image", "i"),
        ),
    ]
}

fn bounds() -> Vec<Case> {
    vec![
        bound(
            "spec.topology.acknowledgedCopies",
            "Required value",
            set("/spec/topology/acknowledgedCopies", REMOVED),
            json!({}),
        ),
        bound(
            "spec.topology.election",
            "Unsupported value",
            set("/spec/topology/election", "None"),
            set("/spec/topology/election", "Engine"),
        ),
        bound(
            "spec.topology.defaultPrimaries",
            "Unsupported value",
            set("/spec/topology/defaultPrimaries", "Two"),
            set("/spec/topology/defaultPrimaries", "All"),
        ),
        bound(
            "spec.topology.minMembers",
            "greater than or equal to 1",
            set("/spec/topology/minMembers", 0),
            set("/spec/topology/minMembers", 3),
        ),
        bound("spec.versions", "should have at least 1 items", set("/spec/versions", json!([])), json!({})),
        bound("spec.versions[]", "Duplicate value", set("/spec/versions/1/version", "1.0"), json!({})),
        bound(
            "spec.clientPort",
            "less than or equal to 65535",
            set("/spec/clientPort", 65536),
            set("/spec/clientPort", 65535),
        ),
        bound("spec.dataPath", "should match", set("/spec/dataPath", "data"), set("/spec/dataPath", "/data")),
        bound(
            "spec.files.a",
            "may not be more than 16384",
            set("/spec/files/a", "x".repeat(16385)),
            set("/spec/files/a", "x".repeat(16384)),
        ),
        bound(
            "spec.secrets[].keys[].length",
            "greater than or equal to 16",
            set("/spec/secrets/0/keys/0/length", 8),
            set("/spec/secrets/0/keys/0/length", 16),
        ),
        bound("spec.actions.seed", "Required value", set("/spec/actions/seed", REMOVED), json!({})),
        bound(
            "spec.actions.stop.command",
            "should have at least 1 items",
            set("/spec/actions/stop/command", json!([])),
            set("/spec/actions/stop", REMOVED),
        ),
        bound(
            "spec.actions.stop.timeoutSeconds",
            "greater than or equal to 1",
            set("/spec/actions/stop/timeoutSeconds", 0),
            set("/spec/actions/stop/timeoutSeconds", 1),
        ),
        bound(
            "spec.stallTimeoutSeconds",
            "greater than or equal to 10",
            set("/spec/stallTimeoutSeconds", 9),
            set("/spec/stallTimeoutSeconds", 10),
        ),
    ]
}

#[tokio::test]
async fn real_every_rule_of_an_engine_refuses_and_its_twin_passes() {
    let mut cases = engine_rules();
    cases.extend(template_rules(&MEMBER, "/spec/template"));
    cases.extend(template_rules(&DRIVER, "/spec/drivers/0/template"));
    let refusals = run(KIND, LEDGER, cases).await;
    assert_complete(KIND, &refusals);
}

#[tokio::test]
async fn real_bounds_of_an_engine_hold() {
    run(KIND, LEDGER, bounds()).await;
}

#[tokio::test]
async fn real_a_template_cannot_reach_the_host() {
    let server = crate::server::Server::of(KIND).await;
    let base: Value = serde_yaml_ng::from_str(LEDGER).unwrap();
    let reaching = json!({
        "/spec/template/hostNetwork": true,
        "/spec/template/hostPID": true,
        "/spec/template/serviceAccountName": "admin",
        "/spec/template/volumes/0/hostPath": {"path": "/"},
    });
    let created = server.create(&crate::case::edited(&base, &reaching), true).await.unwrap();
    let text = created["spec"].to_string();
    for field in ["hostNetwork", "hostPID", "serviceAccountName", "hostPath"] {
        assert!(!text.contains(field), "{field} was kept");
    }
}
