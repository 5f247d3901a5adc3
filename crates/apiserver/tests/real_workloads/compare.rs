//! Cases in tables, and how both sides are asked and compared.
//!
//! A case is an object with some fields changed: `{"/spec/replicas": -1}`; null takes a field away.

use std::fmt::Write as _;

use muster_apiserver::lifecycle::Part;
use serde_json::{Map, Value, json};

use crate::server::{Answer, Objects, Refusal, Sides, Stays};

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
    /// On a dry run the server gives nothing out, and says less of what is taken or out of range.
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

/// Holds all cases against both servers, and says all that is different.
pub(crate) async fn compare(sides: &Sides, base: &Value, creations: Vec<Creation>, changes: Vec<Change>) {
    let servers = sides.of(base);
    let mut differences = String::new();
    let count = creations.len() + changes.len();
    for case in creations {
        let object = edited(base, &case.edits);
        let mut answers = Vec::new();
        for server in &servers {
            let answer = server.create(&object, case.stays).await;
            if case.stays == Stays::Yes && answer.is_ok() {
                server.delete(object["metadata"]["name"].as_str().unwrap(), GONE).await.unwrap();
            }
            answers.push(plain(answer, &object, None, case.words));
        }
        note(&mut differences, case.name, &answers[0], &answers[1]);
    }
    for (index, case) in changes.iter().enumerate() {
        let mut before = edited(base, &case.before);
        before["metadata"]["name"] = json!(format!("{}-{index}", base["metadata"]["name"].as_str().unwrap()));
        let mut answers = Vec::new();
        for server in &servers {
            let (stored, answer) = changed(server, &before, case).await;
            let sent = edited(&before, &case.edits);
            answers.push(plain(answer, &sent, Some(&stored), case.words));
        }
        note(&mut differences, case.name, &answers[0], &answers[1]);
    }
    println!("{count} cases");
    assert!(differences.is_empty(), "{differences}");
}

/// What is asked for so that an object goes at once.
pub(crate) const GONE: &str = "gracePeriodSeconds=0&propagationPolicy=Background";

/// Makes the object that is to be changed, changes it, and takes it away. Gives it as it was before, and the answer.
async fn changed(server: &Objects, before: &Value, case: &Change) -> (Value, Answer) {
    let made = server.create(before, Stays::Yes).await;
    let mut stored = made.unwrap_or_else(|error| panic!("{}: {error:?}", case.name));
    if !case.status.is_null() {
        let with_status = edited(&stored, &case.status);
        stored = server.replace(&with_status, "/status", Stays::Yes).await.unwrap();
    }
    let next = edited(&stored, &case.edits);
    let below = if case.part == Part::Status { "/status" } else { "" };
    let answer = server.replace(&next, below, Stays::No).await;
    server.delete(before["metadata"]["name"].as_str().unwrap(), GONE).await.unwrap();
    (stored, answer)
}

fn note(differences: &mut String, name: &str, theirs: &Answer, ours: &Answer) {
    if theirs == ours {
        return;
    }
    writeln!(differences, "== {name}").unwrap();
    match (theirs, ours) {
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
pub(crate) fn plain(answer: Answer, sent: &Value, stored: Option<&Value>, words: Words) -> Answer {
    match answer {
        Ok(mut object) => {
            let metadata = object["metadata"].as_object_mut().unwrap();
            for field in ["uid", "creationTimestamp", "resourceVersion"] {
                metadata.remove(field);
            }
            if object.pointer("/status/conditions/0/lastTransitionTime").is_some_and(Value::is_string) {
                object["status"]["conditions"][0]["lastTransitionTime"] = json!("<time>");
            }
            if object.pointer("/status/lastPhaseTransitionTime").is_some() {
                object["status"]["lastPhaseTransitionTime"] = json!("<time>");
            }
            for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
                entry["time"] = json!("<time>");
            }
            mask_allocated(&mut object, sent, stored);
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

/// Hides addresses and ports that were not asked for, and says whether they were there before.
fn mask_allocated(object: &mut Value, sent: &Value, stored: Option<&Value>) {
    if object["kind"] != "Service" {
        return;
    }
    let ports = object["spec"]["ports"].as_array().map_or(0, Vec::len);
    let fields = ["clusterIP", "clusterIPs", "healthCheckNodePort"].map(|field| format!("/spec/{field}"));
    let ports = (0..ports).map(|index| format!("/spec/ports/{index}/nodePort"));
    for pointer in fields.into_iter().chain(ports) {
        let Some(value) = object.pointer_mut(&pointer) else { continue };
        let is_address = !["\"None\"", "[\"None\"]"].contains(&value.to_string().as_str());
        let asked = sent.pointer(&pointer).is_some_and(|asked| *asked != "" && *asked != 0);
        if !asked && is_address {
            let before = stored.and_then(|stored| stored.pointer(&pointer));
            *value = json!(if before == Some(value) { "<kept>" } else { "<given>" });
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
