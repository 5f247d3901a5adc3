//! Starts, stops and directs the manager of a cluster, as the pause says (DESIGN, section 5).

use std::sync::Arc;

use kube::ResourceExt;
use muster_api::{ReplicatedCluster, ReplicationEngine};
use muster_core::build::config::MemberConfig;
use muster_core::pause::Pause;

use crate::context::Context;
use crate::key::{Key, Name};
use crate::lease::NotLeader;
use crate::manager::{EngineSpec, Handle, Intent, Managers};
use crate::memory::{Memory, Shared, lock};

/// The manager of this cluster, running or told to stop as the pause says. None while it has never run and shall not.
pub(super) fn steer(
    context: &Arc<Context>,
    managers: &Managers,
    cluster: &ReplicatedCluster,
    memory: &Shared,
) -> Result<Option<Handle>, NotLeader> {
    let name = Name::of(cluster);
    let epoch = lock(memory).epoch;
    let uid = cluster.uid().unwrap_or_default();
    let pause = Pause::from_annotations(cluster.metadata.annotations.as_ref());
    if pause.clustering {
        let running = managers.under(&name, &uid, epoch);
        if let Some(handle) = &running {
            handle.stop();
        }
        return Ok(running);
    }
    let stored = cluster.status.as_ref().and_then(|status| status.restore_replicas).map(i64::from);
    let handle = managers.ensure(context, &name, &uid, epoch, stored)?;
    let memory = lock(memory);
    if let Some(intent) = &memory.intent {
        handle.intend(intent.clone());
    }
    handle.give_keys(memory.keys.as_ref());
    Ok(Some(handle))
}

/// What the manager is to keep, by a spec that was checked and is being applied.
pub(super) fn intend(
    context: &Context,
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngine,
    memory: &mut Memory,
) {
    let spec = EngineSpec {
        topology: &engine.spec.topology,
        actions: &engine.spec.actions,
        stall_timeout_seconds: engine.spec.stall_timeout_seconds,
    };
    decide(context, cluster, Intent::of(cluster, &spec), memory);
}

/// Keeps what was decided. Whether a Member's Pod is to be there follows from it, and its own pass may have come first.
fn decide(context: &Context, cluster: &ReplicatedCluster, intent: Intent, memory: &mut Memory) {
    let parked = intent.parked;
    let before = memory.intent.replace(intent).map(|before| before.parked);
    if before == Some(parked) {
        return;
    }
    for member in context.caches.members.of_cluster(&Name::of(cluster)) {
        context.queue.add(Key::Member(Name::of(member.as_ref())));
    }
}

/// What the manager is to keep where the spec is not being applied, or is not valid: what it kept before; after a restart,
/// what the members run with. It never parks, starts or replaces anything by a spec that nobody applied.
pub(super) fn keep_on(context: &Context, cluster: &ReplicatedCluster, memory: &mut Memory) {
    if let Some(intent) = &mut memory.intent {
        intent.replaces = false;
        return;
    }
    let name = Name::of(cluster);
    let configs = context.caches.members.of_cluster(&name).into_iter().filter_map(|member| {
        let config = member.spec.workload.as_ref()?.config.clone();
        let config_map = context.caches.config_maps.get(&name.beside(config))?;
        MemberConfig::read(&config_map).ok()
    });
    let Some(config) = configs.last() else { return };
    let spec = EngineSpec {
        topology: &config.topology,
        actions: &config.actions,
        stall_timeout_seconds: config.stall_timeout_seconds,
    };
    let at_zero = context.caches.stateful_sets.of_cluster(&name);
    let all_at_zero = !at_zero.is_empty()
        && at_zero.iter().all(|set| set.spec.as_ref().and_then(|spec| spec.replicas) == Some(0));
    let intent = Intent { replaces: false, parked: all_at_zero, ..Intent::of(cluster, &spec) };
    decide(context, cluster, intent, memory);
}
