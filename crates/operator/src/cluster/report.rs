//! Report: what status says of a cluster, after errors and while paused too.

use std::sync::Arc;

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::cluster::LastRequest;
use muster_api::names::ANNOTATION_FORMED;
use muster_core::generation::{self, Gate};
use muster_core::rollout::Next;
use muster_core::scaling::{self, Free};
use muster_core::status::{
    ClusterInputs, ClusterVerdict, EngineFacts, Judged, MemberSeen, Object, PoolSeen, Rollout, ServiceSeen,
    Sizing, judge_cluster,
};

use super::members;
use super::observe::Seen;
use super::size::Sized;
use super::want::Wants;
use crate::child::{Kind, Placement};
use crate::context::Context;
use crate::memory::Memory;

/// What a pass found out, as far as it came.
#[derive(Default)]
pub struct Found<'a> {
    /// How the pools are sized.
    pub sized: Option<&'a Sized>,
    /// What is wanted.
    pub wants: Option<&'a Wants>,
    /// Objects under wanted names that belong to someone else.
    pub taken: Vec<String>,
    /// What the API server refuses to have, in words.
    pub refused: Vec<String>,
    /// What could not be observed, in words.
    pub unobserved: Vec<String>,
    /// What this spec has not reached yet, in words.
    pub unapplied: Vec<String>,
}

/// Judges the cluster by what was seen and found.
pub fn judge(context: &Context, seen: &Seen, found: &Found<'_>, memory: &mut Memory) -> ClusterVerdict {
    let caches = &context.caches;
    let members: Vec<MemberSeen> = seen
        .members
        .iter()
        .map(|member| {
            let name = member.name_any();
            let sized = found.sized.and_then(|sized| sized.members.get(&name));
            let current = found.wants.is_none_or(|wants| wants.current.get(&name).copied().unwrap_or(true));
            members::seen(caches, seen, member, sized, current, memory)
        })
        .collect();
    publish_free(seen, found, memory);
    let pools: Vec<PoolSeen<'_>> = seen
        .cluster
        .spec
        .pools
        .iter()
        .map(|pool| PoolSeen {
            name: &pool.name,
            zone: pool.zone.as_deref(),
            free: memory.shown_free.get(&pool.name).copied(),
        })
        .collect();
    let drivers = drivers(context, seen, found, memory);
    let held: &[String] = found.wants.map_or(&[], |wants| &wants.held);
    let children_equal = children_equal(context, found);
    let service = context.caches.services.get(&seen.name);
    let host = service.as_deref().and_then(service_host);
    let engine = seen.engine.as_deref();
    let last_request = newest_request(seen, memory);
    let current = found.wants.and_then(|wants| rolling(&wants.rollout));
    let inputs = ClusterInputs {
        object: Object {
            name: &seen.name.name,
            generation: seen.generation(),
            deleting: seen.deleting(),
            annotations: seen.cluster.metadata.annotations.as_ref(),
        },
        spec: memory
            .report
            .as_ref()
            .map(|(generation, report)| Judged { generation: *generation, verdict: report }),
        sizing: found.sized.map(|sized| Judged {
            generation: seen.generation(),
            verdict: Sizing { advice: &sized.advice, pools: &pools },
        }),
        members: &members,
        drivers: &drivers,
        name_taken: &found.taken,
        refused: &found.refused,
        unobserved: &found.unobserved,
        unapplied: &found.unapplied,
        clustering: seen.view.clustering(held),
        reconciliation_stopped: memory.stopped.as_ref(),
        formed: caches
            .claims
            .of_cluster(&seen.name)
            .iter()
            .any(|c| c.annotations().contains_key(ANNOTATION_FORMED)),
        applied: memory.applied,
        children_equal,
        engine: EngineFacts {
            client_port: engine.map(|engine| engine.spec.client_port),
            target_version: found.wants.map(|wants| wants.target.version.as_str()),
            generation: engine.and_then(|engine| engine.metadata.generation),
        },
        service: service.as_deref().map(|_| ServiceSeen {
            name: &seen.name.name,
            host: host.as_deref(),
            port: engine.map_or(0, |engine| engine.spec.client_port),
        }),
        rollout: Rollout { current: current.as_deref(), blocked: None },
        last_request: last_request.as_ref(),
        shown_recovery: memory.shown_recovery.as_ref(),
    };
    judge_cluster(&inputs)
}

/// Keeps the free storage of each pool as it is shown: rounded, and at most once a minute.
fn publish_free(seen: &Seen, found: &Found<'_>, memory: &mut Memory) {
    let Some(sized) = found.sized else { return };
    for (pool, advice) in seen.cluster.spec.pools.iter().zip(&sized.advice.pools) {
        let Free::Known(bytes) = advice.free else {
            memory.shown_free.remove(&pool.name);
            continue;
        };
        let of_pool = seen.members.iter().filter(|member| member.spec.pool == pool.name);
        let capacity =
            of_pool.filter_map(|member| Some(sized.members.get(&member.name_any())?.capacity)).sum();
        let lines = [&pool.threshold.free_storage_min, &pool.threshold.free_storage_max];
        let lines: Vec<u128> =
            lines.into_iter().flatten().filter_map(|line| u128::try_from(line.bytes()).ok()).collect();
        let shown = memory.shown_free.get(&pool.name).copied();
        memory
            .shown_free
            .insert(pool.name.clone(), scaling::publish(bytes, capacity, shown, &lines, seen.now));
    }
}

fn drivers(context: &Context, seen: &Seen, found: &Found<'_>, memory: &Memory) -> Vec<(String, Gate)> {
    let missing = || Gate::NotYet { reason: "does not exist yet".to_owned() };
    let children = found.wants.into_iter().flat_map(|wants| &wants.children);
    children
        .filter_map(|child| {
            let applied = memory.children.get(&child.id());
            let name = seen.name.beside(&child.name.name);
            let gate = match child.kind {
                Kind::Deployment => {
                    let live = context.caches.deployments.get(&name);
                    live.map_or_else(missing, |live| generation::deployment(&live, applied))
                }
                Kind::DaemonSet => {
                    let live = context.caches.daemon_sets.get(&name);
                    live.map_or_else(missing, |live| generation::daemon_set(&live, applied))
                }
                _ => return None,
            };
            Some((child.name.name.clone(), gate))
        })
        .collect()
}

/// Whether what is there equals what this spec builds.
fn children_equal(context: &Context, found: &Found<'_>) -> bool {
    let Some(wants) = found.wants else { return false };
    let same = |child: &crate::child::Child| matches!(child.placement(&context.caches), Placement::Same(_));
    wants.leaving.is_empty()
        && wants.current.values().all(|current| *current)
        && wants.children.iter().chain(&wants.members).all(same)
}

/// The host by which clients reach a Service from where they are.
fn service_host(service: &k8s_openapi::api::core::v1::Service) -> Option<String> {
    let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref()?.first());
    let outside = ingress.and_then(|ingress| ingress.hostname.clone().or_else(|| ingress.ip.clone()));
    outside
        .or_else(|| service.spec.as_ref()?.cluster_ip.clone())
        .filter(|host| host != "None" && !host.is_empty())
}

/// The last request, whether it was refused here or taken up by the manager.
fn newest_request(seen: &Seen, memory: &Memory) -> Option<LastRequest> {
    let both = [memory.last_request.as_ref(), seen.view.last_request.as_ref()];
    both.into_iter().flatten().max_by_key(|word| word.order).map(|word| word.request.clone())
}

/// The Member whose turn it is.
fn rolling(next: &Next) -> Option<String> {
    match next {
        Next::Done => None,
        Next::Update(names) => names.first().cloned(),
        Next::Wait { unready, .. } => unready.first().cloned(),
    }
}

/// Keeps what was assembled, so that figures that only move are not restated.
pub fn remember(memory: &mut Memory, written: &Arc<ReplicatedCluster>) {
    memory.shown_recovery = written.status.as_ref().and_then(|status| status.recovery.clone());
}
