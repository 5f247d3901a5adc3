//! The status writer: compare and swap, one write for each change, none for none (R0.3, R0.5).

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::member::MemberStatus;
use muster_api::{Member, ReplicatedCluster};
use muster_core::status::write::{WRITE_TRIES, cluster_needs_write, member_needs_write, swap};
use muster_core::status::{ClusterVerdict, Conflict, MemberVerdict, Snapshot, on_conflict};
use serde_json::Value;

use crate::cache::Cached;
use crate::context::Context;
use crate::door::{CallError, Namespaced};
use crate::key::{Key, Name};
use crate::metrics::Written;

/// Why a status was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// The API server did not take it.
    #[error("status was not written: {0}")]
    Call(#[from] CallError),
    /// Others edit the object faster than we can write.
    #[error("status was not written: the object was edited {WRITE_TRIES} times in a row while it was tried")]
    Outrun,
}

/// What became of a report.
#[derive(Clone, Debug)]
pub enum Reported<K> {
    /// The status says so already.
    Same,
    /// It was written, and replaced this.
    Written {
        /// The object before.
        before: Arc<K>,
        /// The object now.
        after: Box<K>,
    },
    /// What was judged has changed meanwhile: the verdict is thrown away, and another pass judges anew.
    ThrownAway,
    /// There is nothing to write to any more.
    Gone,
}

/// Which part of a verdict is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of it.
    Whole,
    /// The reset for a generation that was not seen before (R1.1).
    Reset,
}

/// A kind with a status of ours, and the verdict that it is made of.
pub trait Judged: Namespaced + Cached {
    /// Its kind, for metrics.
    const KIND: &'static str;
    /// What was found about it.
    type Verdict;

    /// The key of its own pass.
    fn key(&self) -> Key;

    /// The same object with the status that this verdict makes; none where nothing needs writing.
    fn judged(&self, verdict: &Self::Verdict, which: Which, now: Timestamp) -> Option<Self>;

    /// What makes the status of `judged` of this object's, where nothing that it was made from has changed.
    fn swap(&self, judged: &Self) -> Value;
}

impl Judged for ReplicatedCluster {
    const KIND: &'static str = "ReplicatedCluster";
    type Verdict = ClusterVerdict;

    fn key(&self) -> Key {
        Key::Cluster(Name::of(self))
    }

    fn judged(&self, verdict: &ClusterVerdict, which: Which, now: Timestamp) -> Option<Self> {
        let stored = self.status.as_ref();
        let new: ReplicatedClusterStatus = match which {
            Which::Whole => verdict.over(stored, now),
            Which::Reset => verdict.reset_over(stored, now)?,
        };
        let mut object = self.clone();
        let needed = cluster_needs_write(stored, &new);
        object.status = Some(new);
        needed.then_some(object)
    }

    fn swap(&self, judged: &Self) -> Value {
        swap(&self.metadata, self.status.as_ref(), &judged.status)
    }
}

impl Judged for Member {
    const KIND: &'static str = "Member";
    type Verdict = MemberVerdict;

    fn key(&self) -> Key {
        Key::Member(Name::of(self))
    }

    fn judged(&self, verdict: &MemberVerdict, which: Which, now: Timestamp) -> Option<Self> {
        let stored = self.status.as_ref();
        let new: MemberStatus = match which {
            Which::Whole => verdict.over(stored, now),
            Which::Reset => verdict.reset_over(stored, now)?,
        };
        let mut object = self.clone();
        let needed = member_needs_write(stored, &new);
        object.status = Some(new);
        needed.then_some(object)
    }

    fn swap(&self, judged: &Self) -> Value {
        swap(&self.metadata, self.status.as_ref(), &judged.status)
    }
}

/// Writes what was found about an object that was judged as it was read.
pub async fn write<K: Judged>(
    context: &Context,
    cluster: &Name,
    judged: &Arc<K>,
    verdict: &K::Verdict,
    which: Which,
) -> Result<Reported<K>, ReportError> {
    let snapshot = Snapshot::of(judged.meta());
    let mut base = judged.clone();
    for _ in 0..WRITE_TRIES {
        let written = |written| context.metrics.status_written(K::KIND, written);
        let Some(object) = base.judged(verdict, which, context.clock.now()) else {
            written(Written::Equal);
            return Ok(Reported::Same);
        };
        let mut answer = context.door.write_status(cluster, &object).await;
        if matches!(answer, Err(CallError::Conflict { .. })) {
            written(Written::Conflict);
            // The version is another, which need not mean anything: whether it does the API server can see for itself. To read
            // it and try once more could go on for ever beside someone who keeps editing.
            answer = context.door.swap_status(cluster, &Name::of(&object), &base.swap(&object)).await;
        }
        match answer {
            Ok(after) => {
                written(Written::Written);
                if let Some(version) = after.resource_version() {
                    context.queue.wrote(&judged.key(), version);
                }
                return Ok(Reported::Written { before: base, after: Box::new(after) });
            }
            Err(CallError::Conflict { .. }) => written(Written::Conflict),
            Err(CallError::NotFound { .. }) => return Ok(Reported::Gone),
            Err(error) => {
                written(Written::Failed);
                return Err(error.into());
            }
        }
        let found = context.door.read::<K>(&Name::of(judged.as_ref())).await?;
        match on_conflict(&snapshot, found.as_ref().map(meta)) {
            Conflict::SameVerdict => {}
            Conflict::ThrowAway => return Ok(Reported::ThrownAway),
            Conflict::Gone => return Ok(Reported::Gone),
        }
        let Some(found) = found else { return Ok(Reported::Gone) };
        base = Arc::new(found);
    }
    Err(ReportError::Outrun)
}

fn meta<K: Resource>(object: &K) -> &ObjectMeta {
    object.meta()
}
