//! Cases in tables, and how both sides are asked and compared.
//!
//! A case is an object with some fields changed: `{"/spec/replicas": -1}`; null takes a field away.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use muster_apiserver::lifecycle::Part;
use serde_json::{Map, Value, json};

use crate::ours::{self, World};
use crate::server::{Answer, Refusal, Server, Stays};

/// How closely messages must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Same,
    /// The server shows the difference, or an object in its own inner form.
    Differ,
}

/// Something to be created.
pub(crate) struct Creation {
    pub(crate) name: &'static str,
    pub(crate) edits: Value,
    pub(crate) words: Words,
    /// On a dry run the server does not say what is taken.
    pub(crate) stays: Stays,
}

/// Something to be created and then changed.
pub(crate) struct Change {
    pub(crate) name: &'static str,
    /// What is different from the base before.
    pub(crate) before: Value,
    /// Fields of the status that it has by then.
    pub(crate) status: Value,
    pub(crate) edits: Value,
    pub(crate) part: Part,
    pub(crate) words: Words,
}

pub(crate) fn create(name: &'static str, edits: Value) -> Creation {
    Creation { name, edits, words: Words::Same, stays: Stays::No }
}

pub(crate) fn create_loosely(name: &'static str, edits: Value) -> Creation {
    Creation { words: Words::Differ, ..create(name, edits) }
}

pub(crate) fn create_really(name: &'static str, edits: Value) -> Creation {
    Creation { stays: Stays::Yes, ..create(name, edits) }
}

pub(crate) fn change(name: &'static str, edits: Value) -> Change {
    Change { name, before: json!({}), status: Value::Null, edits, part: Part::Whole, words: Words::Same }
}

impl Change {
    pub(crate) fn loosely(self) -> Self {
        Self { words: Words::Differ, ..self }
    }

    pub(crate) fn before(self, before: Value) -> Self {
        Self { before, ..self }
    }

    pub(crate) fn with_status(self, status: Value) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn of_status(self) -> Self {
        Self { part: Part::Status, ..self }
    }
}

/// The object with fields changed.
pub(crate) fn edited(object: &Value, edits: &Value) -> Value {
    let mut object = object.clone();
    for (pointer, value) in edits.as_object().into_iter().flatten() {
        edit(&mut object, pointer, value);
    }
    object
}

fn edit(object: &mut Value, pointer: &str, value: &Value) {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    if object.pointer(parent).is_none() {
        if value.is_null() {
            return;
        }
        edit(object, parent, &json!({}));
    }
    let field = field.replace("~1", "/");
    match object.pointer_mut(parent).unwrap() {
        Value::Array(items) => match field.parse::<usize>() {
            Ok(index) if index < items.len() && value.is_null() => drop(items.remove(index)),
            Ok(index) if index < items.len() => items[index] = value.clone(),
            _ => items.push(value.clone()),
        },
        parent if value.is_null() => drop(parent.as_object_mut().unwrap().remove(&field)),
        parent => {
            if parent.is_null() {
                *parent = Value::Object(Map::new());
            }
            parent[field] = value.clone();
        }
    }
}

/// What can be looked up.
pub(crate) async fn world() -> World {
    let mut world = BTreeMap::new();
    let resources = [
        ("/services", json!({"apiVersion": "v1", "kind": "Service"})),
        ("storage.k8s.io/storageclasses", json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"})),
        (
            "scheduling.k8s.io/priorityclasses",
            json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}),
        ),
    ];
    for (resource, example) in resources {
        let objects = Server::of(&example).await.list().await;
        world.insert(resource.to_owned(), objects.into_iter().map(Arc::new).collect());
    }
    World(world)
}

/// Holds all cases against both servers, and says all that is different.
pub(crate) async fn compare(base: &Value, creations: Vec<Creation>, changes: Vec<Change>) {
    let server = Server::of(base).await;
    let world = world().await;
    let mut differences = String::new();
    let count = creations.len() + changes.len();
    for case in creations {
        let object = edited(base, &case.edits);
        let (theirs, ours) = (server.create(&object, case.stays).await, ours::create(&object, &world));
        if case.stays == Stays::Yes && theirs.is_ok() {
            server.delete(object["metadata"]["name"].as_str().unwrap()).await;
        }
        note(&mut differences, case.name, case.words, &object, theirs, ours);
    }
    for (index, case) in changes.into_iter().enumerate() {
        let mut object = edited(base, &case.before);
        let name = format!("{}-{index}", object["metadata"]["name"].as_str().unwrap());
        object["metadata"]["name"] = json!(name);
        let mut stored = server
            .create(&object, Stays::Yes)
            .await
            .unwrap_or_else(|error| panic!("{}: {error:?}", case.name));
        if !case.status.is_null() {
            let with_status = edited(&stored, &case.status);
            stored = server.replace(&with_status, "/status", Stays::Yes).await.unwrap();
        }
        let next = edited(&stored, &case.edits);
        let below = if case.part == Part::Status { "/status" } else { "" };
        let theirs = server.replace(&next, below, Stays::No).await;
        let mut world = self::world().await;
        world
            .0
            .entry("/services".to_owned())
            .or_default()
            .retain(|service| service["metadata"]["name"] != *name);
        let ours = ours::replace(&next, &stored, case.part, &world);
        note(&mut differences, case.name, case.words, &next, theirs, ours);
        server.delete(&name).await;
    }
    println!("{count} cases");
    assert!(differences.is_empty(), "{differences}");
}

fn note(differences: &mut String, name: &str, words: Words, sent: &Value, theirs: Answer, ours: Answer) {
    let (theirs, ours) = (plain(theirs, sent, words), plain(ours, sent, words));
    if theirs == ours {
        return;
    }
    writeln!(differences, "== {name}").unwrap();
    match (&theirs, &ours) {
        (Ok(theirs), Ok(ours)) => list_differences(differences, "", theirs, ours),
        (Err(theirs), Err(ours)) => {
            writeln!(differences, "  theirs: {} {} {}", theirs.code, theirs.reason, theirs.message).unwrap();
            writeln!(differences, "  ours:   {} {} {}", ours.code, ours.reason, ours.message).unwrap();
            let only = |from: &Refusal, other: &Refusal| -> Vec<String> {
                let missing = from.causes.iter().filter(|cause| !other.causes.contains(cause));
                missing.map(|cause| format!("{cause:?}")).collect()
            };
            writeln!(differences, "  only theirs: {:#?}", only(theirs, ours)).unwrap();
            writeln!(differences, "  only ours:   {:#?}", only(ours, theirs)).unwrap();
        }
        (Ok(_), Err(ours)) => writeln!(differences, "  only ours refuses: {ours:?}").unwrap(),
        (Err(theirs), Ok(_)) => writeln!(differences, "  only theirs refuses: {theirs:?}").unwrap(),
    }
}

fn list_differences(out: &mut String, path: &str, theirs: &Value, ours: &Value) {
    if let (Value::Object(a), Value::Object(b)) = (theirs, ours) {
        for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
            let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(json!("<absent>"));
            list_differences(out, &format!("{path}/{key}"), &of(a), &of(b));
        }
    } else if theirs != ours {
        writeln!(out, "  {path}: theirs {theirs} ours {ours}").unwrap();
    }
}

/// An answer without what must differ.
pub(crate) fn plain(answer: Answer, sent: &Value, words: Words) -> Answer {
    match answer {
        Ok(mut object) => {
            let metadata = object["metadata"].as_object_mut().unwrap();
            for field in
                ["uid", "creationTimestamp", "resourceVersion", "managedFields", "generation", "namespace"]
            {
                metadata.remove(field);
            }
            if object.pointer("/status/conditions/0/lastTransitionTime").is_some_and(Value::is_string) {
                object["status"]["conditions"][0]["lastTransitionTime"] = json!("<time>");
            }
            if object.pointer("/status/lastPhaseTransitionTime").is_some() {
                object["status"]["lastPhaseTransitionTime"] = json!("<time>");
            }
            mask_allocated(&mut object, sent);
            mask_uids(&mut object);
            Ok(object)
        }
        Err(mut refusal) => {
            for cause in &mut refusal.causes {
                cause.2 = masked(&cause.2);
                if words == Words::Differ {
                    cause.2.clear();
                }
            }
            refusal.causes.sort();
            refusal.causes.dedup();
            if refusal.code == 422 || words == Words::Differ {
                refusal.message.clear();
            }
            Err(refusal)
        }
    }
}

/// Hides addresses and ports that were not asked for.
fn mask_allocated(object: &mut Value, sent: &Value) {
    if object["kind"] != "Service" {
        return;
    }
    let spec = &mut object["spec"];
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        if sent["spec"].get(field).is_none() && spec.get(field).is_some_and(|value| *value != json!("None")) {
            spec[field] = json!("<given>");
        }
    }
    for (index, port) in spec["ports"].as_array_mut().into_iter().flatten().enumerate() {
        if sent["spec"]["ports"][index].get("nodePort").is_none() && port.get("nodePort").is_some() {
            port["nodePort"] = json!("<given>");
        }
    }
}

fn mask_uids(value: &mut Value) {
    match value {
        Value::String(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(mask_uids),
        Value::Object(fields) => fields.values_mut().for_each(mask_uids),
        _ => {}
    }
}

fn masked(text: &str) -> String {
    let is_uid = |part: &str| {
        part.len() == 36
            && part.char_indices().all(|(index, c)| match index {
                8 | 13 | 18 | 23 => c == '-',
                _ => c.is_ascii_hexdigit(),
            })
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.get(..36).is_some_and(is_uid) {
            out.push_str("<uid>");
            rest = &rest[36..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}
