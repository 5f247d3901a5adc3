//! Report: what status says of a Member.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use muster_api::cluster::Threshold;
use muster_core::build::claim::requested;
use muster_core::generation::{self, Gate};
use muster_core::scaling::Published;
use muster_core::status::member::{DeviceSeen, StorageSeen, WorkloadSeen, free_storage};
use muster_core::status::{Judged, MemberInputs, MemberVerdict, Picture, judge_member};
use muster_core::validation::Report;
use muster_core::validation::references::Lookup;

use super::apply::Wants;
use super::observe::Seen;
use crate::child::{Kind, Placement};
use crate::context::Context;
use crate::memory::MemberMemory;

/// What a pass found out.
pub(super) struct Found<'a> {
    /// What the checks of the spec found.
    pub report: &'a Report,
    /// What is wanted.
    pub wants: Option<&'a Wants>,
    /// An object under a wanted name that belongs to someone else.
    pub taken: Option<String>,
    /// What the API server refuses to have, in words.
    pub refused: Option<String>,
    /// Whether its workload stays as an earlier spec made it, because it leaves.
    pub outdated: bool,
}

/// Judges the Member by what was seen and found.
pub(super) fn judge(
    context: &Context,
    seen: &Seen,
    found: &Found<'_>,
    memory: &mut MemberMemory,
) -> MemberVerdict {
    let name = seen.name.name.as_str();
    let looking = seen.view.clustering(&[]).looking(seen.pause);
    let picture: Result<&Picture<'_>, _> = looking.as_ref().map_err(Clone::clone);
    let heard = seen.view.heard.get(name);
    memory.shown_free = shown_free(seen, memory.shown_free);
    let Claims { gates: claims, not_found, unobserved } = claims(seen);
    let devices: Vec<DeviceSeen> =
        heard.map(|heard| heard.measured.devices.iter().map(device).collect()).unwrap_or_default();
    let wanted_devices: Vec<String> =
        seen.member.spec.storage.iter().filter_map(|one| one.device.clone()).collect();
    let applied = memory.children.get(&(Kind::StatefulSet, name.to_owned()));
    let gate = |set| {
        if found.outdated {
            return Gate::NotYet { reason: "is of an earlier spec, and the Member leaves".to_owned() };
        }
        generation::stateful_set(set, applied)
    };
    let set = seen.set.as_deref().map(gate);
    let reporting = heard.and_then(|heard| heard.pod_uid.as_deref());
    let pod = seen.pod.as_deref().zip(seen.set.as_deref());
    let pod = pod.map(|(pod, set)| generation::pod(pod, set, reporting));
    let failure = heard.and_then(|heard| heard.measured.failure.as_ref());
    let action_error =
        failure.map(|failure| format!("{} {}: {}", failure.action, failure.how, failure.output));
    let address = crate::manager::facts::address(&seen.member, seen.pod.as_deref());
    let at_zero = seen.set.as_ref().and_then(|set| set.spec.as_ref()?.replicas) == Some(0);
    let inputs = MemberInputs {
        name,
        generation: seen.generation(),
        deleting: seen.deleting(),
        state: seen.member.spec.desired_state,
        external: seen.member.spec.external.is_some(),
        pause: seen.pause,
        applied: memory.applied,
        children_equal: children_equal(context, found.wants),
        spec: Some(Judged { generation: seen.generation(), verdict: found.report }),
        storage: StorageSeen {
            claims: &claims,
            not_found: &not_found,
            wanted_devices: &wanted_devices,
            devices: &devices,
            unobserved: &unobserved,
            free: memory.shown_free,
        },
        workload: WorkloadSeen {
            set: set.as_ref(),
            pod: pod.as_ref(),
            name_taken: found.taken.as_deref(),
            refused: found.refused.as_deref(),
            held: found.wants.and_then(|wants| wants.held.as_deref()),
            at_zero,
            unobserved: found.wants.and_then(|wants| wants.unobserved.as_deref()),
        },
        seen: picture,
        action_error: action_error.as_deref(),
        address: address.as_deref(),
        previous: memory.previous.as_ref(),
    };
    judge_member(&inputs)
}

/// The claims that it names.
#[derive(Default)]
struct Claims {
    /// Those that are there: bound, and as large as asked.
    gates: Vec<(String, Gate)>,
    /// Those that are not.
    not_found: Vec<String>,
    /// Those that could not be read, and why: they may be there.
    unobserved: Vec<String>,
}

fn claims(seen: &Seen) -> Claims {
    let mut claims = Claims::default();
    for (name, live) in &seen.claims {
        match live {
            Lookup::Found(live) => claims.gates.push((name.clone(), claim_gate(live, asked(seen, name)))),
            Lookup::NotFound => claims.not_found.push(name.clone()),
            Lookup::Unreadable(why) => claims.unobserved.push(why.clone()),
        }
    }
    claims
}

/// How large the Member's spec asks this claim to be. What the claim itself asks for may be of the spec before.
fn asked(seen: &Seen, name: &str) -> Option<muster_api::Quantity> {
    let storage = seen.member.spec.storage.iter().find(|one| one.pvc_name.as_deref() == Some(name))?;
    storage.claim.as_ref().map(|claim| claim.capacity.clone())
}

fn claim_gate(claim: &PersistentVolumeClaim, asked: Option<muster_api::Quantity>) -> Gate {
    let not_yet = |reason: String| Gate::NotYet { reason };
    let status = claim.status.as_ref();
    if claim.metadata.deletion_timestamp.is_some() {
        return not_yet("is being deleted".to_owned());
    }
    match status.and_then(|status| status.phase.as_deref()) {
        Some("Bound") => {}
        Some("Lost") => return Gate::Failed { reason: "has lost its volume".to_owned() },
        _ => return not_yet("is not bound to a volume".to_owned()),
    }
    let has = status
        .and_then(|status| status.capacity.as_ref()?.get("storage")?.0.parse::<muster_api::Quantity>().ok());
    match (requested(claim).max(asked), has) {
        (Some(wanted), Some(has)) if has < wanted => not_yet(format!("has {has} of {wanted}")),
        _ => Gate::Ready,
    }
}

fn device(device: &muster_protocol::Device) -> DeviceSeen {
    DeviceSeen {
        name: device.name.clone(),
        available: Some(device.available),
        pooled: Some(device.pooled),
        capacity: Some(device.capacity.into()),
        free: Some(device.free.into()),
    }
}

fn shown_free(seen: &Seen, shown: Option<Published>) -> Option<Published> {
    let storage = seen.view.heard.get(&seen.name.name)?.measured.storage?;
    let pools = seen.cluster.as_ref().map(|cluster| cluster.spec.pools.as_slice()).unwrap_or_default();
    let pool = pools.iter().find(|pool| pool.name == seen.member.spec.pool);
    let any = Threshold::default();
    let threshold = pool.map_or(&any, |pool| &pool.threshold);
    Some(free_storage(storage.free.into(), storage.capacity.into(), shown, threshold, seen.now))
}

fn children_equal(context: &Context, wants: Option<&Wants>) -> bool {
    wants.is_some_and(|wants| {
        let same =
            |child: &crate::child::Child| matches!(child.placement(&context.caches), Placement::Same(_));
        wants.held.is_none() && wants.unobserved.is_none() && wants.children.iter().all(same)
    })
}
