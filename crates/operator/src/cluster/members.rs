//! The Members of a cluster as its status counts them: by their stored status and by what is known in memory.

use kube::ResourceExt;
use muster_api::Member;
use muster_api::names::ConditionType;
use muster_core::build::names;
use muster_core::conditions::Truth;
use muster_core::generation::{Applied, Gate, sub_resource};
use muster_core::scaling::{PoolMember, Stage};
use muster_core::status::{MemberSeen, MemberTruths, StoredGates};

use super::observe::Seen;
use crate::cache::Caches;
use crate::child::Kind;
use crate::memory::Memory;

/// What nobody has found out yet.
const UNKNOWN: MemberTruths =
    MemberTruths { storage: Truth::Unknown, workload: Truth::Unknown, ready: Truth::Unknown };

/// What our last apply of this Member returned. One that a person made, and that we never had to change, counts as it is.
fn applied(member: &Member, memory: &Memory) -> Option<Applied> {
    memory.children.get(&(Kind::Member, member.name_any())).cloned()
}

fn gate(member: &Member, kind: ConditionType, memory: &Memory) -> Gate {
    let status = member.status.as_ref();
    let conditions = status.map_or(&[][..], |status| status.conditions.as_slice());
    let observed = status.and_then(|status| status.observed_generation);
    sub_resource(&member.metadata, observed, conditions, kind, applied(member, memory).as_ref())
}

/// Whether a Member is Ready at its generation, by what is stored and by what is known.
pub(super) fn readiness(member: &Member, memory: &Memory) -> Truth {
    match truths(member, memory).ready {
        // What is stored follows in a moment.
        Truth::True if !gate(member, ConditionType::Ready, memory).is_ready() => Truth::Unknown,
        known => known,
    }
}

fn truths(member: &Member, memory: &Memory) -> MemberTruths {
    let known = memory.members.get(&member.name_any());
    known
        .filter(|known| Some(&known.uid) == member.metadata.uid.as_ref())
        .and_then(|m| m.truths)
        .unwrap_or(UNKNOWN)
}

/// A Member as its cluster sees it.
pub(super) fn seen(
    caches: &Caches,
    seen: &Seen,
    member: &Member,
    sized: Option<&PoolMember>,
    current: bool,
    memory: &Memory,
) -> MemberSeen {
    let name = member.name_any();
    let stored = StoredGates {
        storage: gate(member, ConditionType::StorageReady, memory),
        workload: gate(member, ConditionType::WorkloadReady, memory),
        ready: gate(member, ConditionType::Ready, memory),
    };
    let leaving = member.metadata.deletion_timestamp.is_some();
    let version = member.spec.workload.as_ref().map(|workload| workload.version.clone());
    MemberSeen {
        pool: member.spec.pool.clone(),
        zone: member.spec.zone.clone(),
        from_pool: names::ordinal(member).is_some(),
        stage: sized.map_or(if leaving { Stage::Leaving } else { Stage::Creating }, |sized| sized.stage),
        state: member.spec.desired_state,
        version: version.filter(|_| stored.workload.is_ready()),
        stored,
        known: truths(member, memory),
        spec_current: current,
        at_zero: at_zero(caches, seen, member),
        leave_failed: seen.view.leave_failed.get(&name).cloned(),
        capacity: sized.map(|sized| sized.capacity).filter(|capacity| *capacity > 0),
        name,
    }
}

/// Whether its workload is at 0 and has no Pod left.
fn at_zero(caches: &Caches, seen: &Seen, member: &Member) -> bool {
    let name = member.name_any();
    if member.spec.external.is_some() {
        return seen.view.parked;
    }
    let set = caches.stateful_sets.get(&seen.name.beside(&name));
    let scaled = set.is_none_or(|set| set.spec.as_ref().and_then(|spec| spec.replicas) == Some(0));
    scaled && caches.pods.get(&seen.name.beside(names::pod(&name))).is_none()
}
