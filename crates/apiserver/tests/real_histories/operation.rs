//! One operation of one client, chosen by chance.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

/// How many clients there are.
pub(crate) const CLIENTS: usize = 3;
/// The objects of each kind.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Which resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Widget,
    ConfigMap,
}

/// What is done.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Create(Value),
    /// Replaces the object by what the client saw last with this in it; without its version if so wished.
    Update {
        change: Value,
        status: bool,
        versioned: bool,
    },
    Patch {
        form: &'static str,
        patch: Value,
        status: bool,
    },
    Apply {
        config: Value,
        force: bool,
        status: bool,
    },
    Delete(Value),
    DeleteCollection(&'static str),
    Get,
    List(&'static str),
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) client: usize,
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) action: Action,
    pub(crate) dry: bool,
}

impl Operation {
    /// The next one.
    pub(crate) fn random(chance: &mut StdRng) -> Self {
        let kind = if chance.random_bool(0.6) { Kind::Widget } else { Kind::ConfigMap };
        let name = NAMES.choose(chance).copied().unwrap_or("a");
        let status = kind == Kind::Widget && chance.random_bool(0.3);
        let action = match chance.random_range(0..20) {
            0..5 => Action::Create(object(kind, name, chance)),
            5..8 => Action::Update {
                change: change(kind, status, chance),
                status,
                versioned: chance.random_bool(0.8),
            },
            8..11 => {
                let strategic = kind == Kind::ConfigMap && chance.random_bool(0.5);
                let form = if strategic { "strategic" } else { "merge" };
                Action::Patch { form, patch: change(kind, status, chance), status }
            }
            11 => Action::Patch { form: "json", patch: json_patch(kind, chance), status: false },
            12..16 => {
                let mut config = object(kind, name, chance);
                if status {
                    config = json!({"apiVersion": config["apiVersion"], "kind": config["kind"], "status": state(chance)});
                }
                Action::Apply { config, force: chance.random_bool(0.4), status }
            }
            16..18 => Action::Delete(deletion(chance)),
            18 if chance.random_bool(0.2) => Action::DeleteCollection("l=1"),
            18 => Action::List(["", "l=1", "l!=1", "l in (0,2)"].choose(chance).copied().unwrap_or("")),
            _ => Action::Get,
        };
        let client = chance.random_range(0..CLIENTS);
        Self { client, kind, name, action, dry: chance.random_bool(0.05) }
    }
}

fn object(kind: Kind, name: &str, chance: &mut StdRng) -> Value {
    let mut object = match kind {
        Kind::Widget => {
            json!({"apiVersion": "histories.muster.dev/v1", "kind": "Widget", "spec": wish(chance)})
        }
        Kind::ConfigMap => json!({"apiVersion": "v1", "kind": "ConfigMap", "data": wish_of_data(chance)}),
    };
    object["metadata"] = json!({"name": name});
    if chance.random_bool(0.5) {
        object["metadata"]["labels"] = json!({"l": chance.random_range(0..3).to_string()});
    }
    if chance.random_bool(0.2) {
        object["metadata"]["finalizers"] = json!(["muster.dev/hold"]);
    }
    if chance.random_bool(0.05) {
        let empty = [json!({"labels": {}}), json!({"annotations": {}}), json!({"finalizers": []})];
        let (name, value) = empty.choose(chance).and_then(|empty| empty.as_object()?.iter().next()).unwrap();
        object["metadata"][name] = value.clone();
    }
    object
}

fn wish(chance: &mut StdRng) -> Value {
    let mut spec = json!({});
    if chance.random_bool(0.7) {
        spec["size"] = chance.random_range(-1..5).into();
    }
    if chance.random_bool(0.3) {
        spec["unknown"] = true.into();
    }
    if chance.random_bool(0.5) {
        let keys = ["x", "y", "z"];
        let items: Vec<Value> = keys
            .iter()
            .filter(|_| chance.random_bool(0.5))
            .map(|key| json!({"k": key, "v": key.len()}))
            .collect();
        spec["items"] = Value::Array(items);
    }
    spec
}

fn wish_of_data(chance: &mut StdRng) -> Value {
    let mut data = json!({});
    for key in ["x", "y", "bad key"] {
        if chance.random_bool(if key.contains(' ') { 0.05 } else { 0.5 }) {
            data[key] = chance.random_range(0..3).to_string().into();
        }
    }
    data
}

fn state(chance: &mut StdRng) -> Value {
    json!({"ready": chance.random_bool(0.5), "size": chance.random_range(0..3)})
}

fn change(kind: Kind, status: bool, chance: &mut StdRng) -> Value {
    let metadata = match chance.random_range(0..6) {
        0 => json!({"labels": {"l": chance.random_range(0..3).to_string()}}),
        1 => json!({"finalizers": null}),
        2 => json!({"finalizers": ["muster.dev/hold"]}),
        3 => json!({"annotations": {"a": chance.random_range(0..2).to_string()}}),
        _ => json!({}),
    };
    let content = match kind {
        _ if status => json!({"status": state(chance)}),
        Kind::Widget => json!({"spec": wish(chance)}),
        Kind::ConfigMap => json!({"data": wish_of_data(chance)}),
    };
    let mut all = content;
    all["metadata"] = metadata;
    all
}

fn json_patch(kind: Kind, chance: &mut StdRng) -> Value {
    let (path, value) = match kind {
        Kind::Widget => ("/spec/size", json!(chance.random_range(0..4))),
        Kind::ConfigMap => ("/data/x", json!(chance.random_range(0..4).to_string())),
    };
    match chance.random_range(0..4) {
        0 => json!([{"op": "test", "path": path, "value": value}, {"op": "remove", "path": path}]),
        1 => json!([{"op": "remove", "path": path}]),
        2 => json!([{"op": "replace", "path": path, "value": value}]),
        _ => json!([{"op": "add", "path": path, "value": value}]),
    }
}

fn deletion(chance: &mut StdRng) -> Value {
    match chance.random_range(0..6) {
        0 => json!({"propagationPolicy": "Background"}),
        1 => json!({"propagationPolicy": "Orphan"}),
        2 => json!({"preconditions": {"uid": "${uid}"}}),
        3 => json!({"preconditions": {"resourceVersion": "${resourceVersion}"}}),
        _ => json!({}),
    }
}
