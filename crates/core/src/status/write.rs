//! Whether a status needs writing, and whether a verdict survives a conflict (DESIGN, section 4.2 and 4.3).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::member::MemberStatus;
use muster_api::names::{ANNOTATIONS_OF_A_CLUSTER, PREFIX};
use serde::Serialize;
use serde_json::{Value, json};

use crate::conditions;

/// How often the same verdict is tried on a newer version before the writer backs off: edits of other things come in
/// bursts, and more than this in a row is a fight.
pub const WRITE_TRIES: u32 = 8;

/// Whether a cluster's status says something else than what is stored, times of transitions apart.
pub fn cluster_needs_write(stored: Option<&ReplicatedClusterStatus>, new: &ReplicatedClusterStatus) -> bool {
    let Some(stored) = stored else { return true };
    let bare = |status: &ReplicatedClusterStatus| ReplicatedClusterStatus {
        conditions: Vec::new(),
        ..status.clone()
    };
    !conditions::same(&stored.conditions, &new.conditions) || bare(stored) != bare(new)
}

/// Whether a Member's status says something else than what is stored, times of transitions apart.
pub fn member_needs_write(stored: Option<&MemberStatus>, new: &MemberStatus) -> bool {
    let Some(stored) = stored else { return true };
    let bare = |status: &MemberStatus| MemberStatus { conditions: Vec::new(), ..status.clone() };
    !conditions::same(&stored.conditions, &new.conditions) || bare(stored) != bare(new)
}

/// What a verdict was computed against: while this is the same, so is the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Which object.
    pub uid: Option<String>,
    /// Which spec.
    pub generation: Option<i64>,
    /// Whether, and since when, it is being deleted.
    pub deletion: Option<Timestamp>,
    /// What a person said by annotation.
    pub annotations: BTreeMap<String, String>,
}

impl Snapshot {
    /// Of an object as it was read.
    pub fn of(metadata: &ObjectMeta) -> Self {
        let ours = metadata.annotations.iter().flatten().filter(|(key, _)| key.starts_with(PREFIX));
        Self {
            uid: metadata.uid.clone(),
            generation: metadata.generation,
            deletion: metadata.deletion_timestamp.as_ref().map(|time| time.0),
            annotations: ours.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }
}

/// A JSON patch that swaps a status where everything that the new one was computed from is as it was, whatever else of the
/// object has changed meanwhile: what [`Snapshot`] holds, and the status that stood there. The API server compares and swaps
/// in one step of its own, so nobody's edits of other things can come in between, however many there are.
pub fn swap(metadata: &ObjectMeta, stored: Option<&impl Serialize>, new: &impl Serialize) -> Value {
    let is = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    let mut steps = vec![
        is("/metadata/uid", json!(metadata.uid)),
        is("/metadata/generation", json!(metadata.generation)),
        is("/metadata/deletionTimestamp", json!(metadata.deletion_timestamp)),
    ];
    match &metadata.annotations {
        None => steps.push(is("/metadata/annotations", Value::Null)),
        Some(annotations) => {
            let ours = annotations.keys().map(String::as_str).filter(|key| key.starts_with(PREFIX));
            // One that is not there may be there at the next look.
            let keys: BTreeSet<&str> = ours.chain(ANNOTATIONS_OF_A_CLUSTER).collect();
            steps.extend(keys.into_iter().map(|key| {
                let path = format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"));
                is(&path, json!(annotations.get(key)))
            }));
        }
    }
    steps.push(is("/status", json!(stored)));
    steps.push(json!({"op": "add", "path": "/status", "value": new}));
    Value::Array(steps)
}

/// What to do after a write was refused because the object had changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Lay the same verdict over the new version, and write that.
    SameVerdict,
    /// Throw the verdict away and reconcile what is there now.
    ThrowAway,
    /// There is nothing to write to any more.
    Gone,
}

/// Whether the verdict survives: `found` is what a fresh read gave.
pub fn on_conflict(computed_from: &Snapshot, found: Option<&ObjectMeta>) -> Conflict {
    let Some(found) = found else { return Conflict::Gone };
    let found = Snapshot::of(found);
    // Without a uid there is no saying that two reads are of one object.
    if found.uid.is_some() && found == *computed_from { Conflict::SameVerdict } else { Conflict::ThrowAway }
}
