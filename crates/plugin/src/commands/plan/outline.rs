//! The plan itself, as a document.

use kube::ResourceExt;
use serde::Serialize;

use super::subject::Subject;

/// What would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outline {
    /// The name of the cluster.
    pub(super) cluster: String,
    /// Its namespace.
    pub(super) namespace: String,
    /// The generation that is planned for.
    pub(super) generation: i64,
    /// Whether it exists.
    pub(super) exists: bool,
    /// Whether it is planned for a changed spec.
    pub(super) changed: bool,
    /// Why nothing would be done.
    pub(super) violations: Vec<String>,
    /// What is to be known about all of it.
    pub(super) notes: Vec<String>,
    /// The pools, in the order of the spec.
    pub(super) pools: Vec<PoolStep>,
    /// The members that change.
    pub(super) members: Vec<MemberStep>,
    /// The objects that are created, changed or deleted.
    pub(super) objects: Vec<ObjectStep>,
}

/// One pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolStep {
    pub(super) name: String,
    pub(super) nodes: u32,
    pub(super) desired_nodes: u32,
    /// What is done next.
    pub(super) next: String,
    /// Whether that is anything.
    pub(super) acts: bool,
}

/// One member that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemberStep {
    pub(super) name: String,
    /// When: now, or after whom.
    pub(super) when: String,
    /// What changes.
    pub(super) what: String,
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Verb {
    Create,
    Change,
    Delete,
    /// Somebody else has an object of that name.
    Blocked,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectStep {
    pub(super) verb: Verb,
    pub(super) object: String,
    /// Where it differs, or why it is blocked.
    pub(super) why: String,
}

impl Outline {
    pub(super) fn new(subject: &Subject) -> Self {
        let generation = |cluster: &muster_api::ReplicatedCluster| cluster.metadata.generation.unwrap_or(0);
        let before = subject.before.as_ref();
        let changed = before.is_none_or(|before| before.spec != subject.wanted.spec);
        Self {
            cluster: subject.wanted.name_any(),
            namespace: subject.wanted.namespace().unwrap_or_default(),
            generation: before.map_or(1, |before| generation(before) + i64::from(changed)),
            exists: before.is_some(),
            changed,
            ..Self::default()
        }
    }

    /// Whether the operator would leave everything as it is.
    pub(super) fn is_idle(&self) -> bool {
        self.members.is_empty() && self.objects.is_empty() && self.pools.iter().all(|pool| !pool.acts)
    }
}
