//! Whether a status needs writing, and whether a verdict survives a conflict (DESIGN, section 4.2 and 4.3).

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::member::MemberStatus;
use muster_api::names::PREFIX;

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
