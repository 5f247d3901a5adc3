//! The controller of `ReplicationEngine`: says whether it holds together, and has the clusters that use it look again.

use std::sync::Arc;

use kube::Api;
use kube::api::PostParams;
use muster_api::ReplicationEngine;
use muster_api::engine::ReplicationEngineStatus;
use muster_api::names::{ConditionType, FIELD_MANAGER_STATUS};
use muster_core::conditions;
use muster_core::validation::check_engine;

use crate::context::Context;
use crate::key::{Key, Name};
use crate::pass::PassError;
use crate::queue::Then;

/// One pass over an engine.
pub async fn reconcile(context: &Arc<Context>, name: &str) -> Result<Then, PassError> {
    for cluster in context.caches.clusters.all() {
        if cluster.spec.engine.name == name {
            context.queue.add(Key::Cluster(Name::of(cluster.as_ref())));
        }
    }
    // An engine belongs to all namespaces: who looks after one of them reads it and says nothing.
    if context.namespace.is_some() {
        return Ok(Then::Rest);
    }
    let Some(engine) = context.caches.engines.get(&Name::new("", name)) else { return Ok(Then::Rest) };
    let Some(object) = judged(&engine, context) else { return Ok(Then::Rest) };
    let api: Api<ReplicationEngine> = Api::all(context.door.client().clone());
    let params = PostParams { field_manager: Some(FIELD_MANAGER_STATUS.to_owned()), ..PostParams::default() };
    let what = format!("ReplicationEngine {name}");
    // A conflict means that it changed: the change brings the next pass.
    match context.door.write(what, api.replace_status(name, &params, &object)).await {
        Ok(_) | Err(crate::door::CallError::Conflict { .. } | crate::door::CallError::NotFound { .. }) => {
            Ok(Then::Rest)
        }
        Err(error) => Err(error.into()),
    }
}

/// The engine with the status that it is to have; none if it has it.
fn judged(engine: &ReplicationEngine, context: &Context) -> Option<ReplicationEngine> {
    let now = context.clock.now();
    let generation = engine.metadata.generation.unwrap_or(0);
    let stored = engine.status.clone().unwrap_or_default();
    let mut found = stored.conditions.clone();
    found.retain(|condition| condition.type_ == ConditionType::SpecValid.as_str());
    conditions::set(&mut found, ConditionType::SpecValid, check_engine(engine).finding(), generation, now);
    let status = ReplicationEngineStatus { observed_generation: Some(generation), conditions: found };
    let same = engine.status.is_some()
        && stored.observed_generation == status.observed_generation
        && conditions::same(&stored.conditions, &status.conditions);
    (!same).then(|| ReplicationEngine { status: Some(status), ..engine.clone() })
}
