//! Observe: all that a pass of a Member looks at, read once.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use muster_api::{Member, ReplicatedCluster};
use muster_core::build::config::MemberConfig;
use muster_core::build::names;
use muster_core::pause::Pause;
use muster_core::validation::references::Lookup;

use crate::context::Context;
use crate::key::Name;
use crate::lease::Epoch;
use crate::manager::{Managers, View};

/// All that a pass looks at.
pub(super) struct Seen {
    /// The Member's name.
    pub name: Name,
    /// Its cluster's name.
    pub of: Name,
    /// The Member.
    pub member: Arc<Member>,
    /// Its cluster.
    pub cluster: Option<Arc<ReplicatedCluster>>,
    /// What it runs with; why not, if it cannot be told.
    pub config: Result<Arc<MemberConfig>, String>,
    /// Its workload.
    pub set: Option<Arc<StatefulSet>>,
    /// Its Pod.
    pub pod: Option<Arc<Pod>>,
    /// The claims that it names, as they were found.
    pub claims: Vec<(String, Lookup<Arc<PersistentVolumeClaim>>)>,
    /// What is stopped of its cluster.
    pub pause: Pause,
    /// What the manager tells.
    pub view: Arc<View>,
    /// Whether there is a manager.
    pub managed: bool,
    /// When this was.
    pub now: Timestamp,
}

impl Seen {
    /// The generation of the spec.
    pub(super) fn generation(&self) -> i64 {
        self.member.metadata.generation.unwrap_or(0)
    }

    /// Whether it is being deleted.
    pub(super) fn deleting(&self) -> bool {
        self.member.metadata.deletion_timestamp.is_some()
    }

    /// Whether it waits for a claim that a person made, or is to make.
    pub(super) fn awaits_claim(&self) -> bool {
        let bound = |claim: &PersistentVolumeClaim| {
            claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound")
        };
        self.claims.iter().any(|(_, claim)| !matches!(claim, Lookup::Found(claim) if bound(claim)))
    }

    /// The claim of this name, if it is there.
    pub(super) fn claim(&self, name: &str) -> Option<&Arc<PersistentVolumeClaim>> {
        self.claims.iter().find_map(|(found, claim)| match claim {
            Lookup::Found(claim) if found == name => Some(claim),
            _ => None,
        })
    }

    /// Whether its cluster is being deleted, or gone.
    pub(super) fn cluster_goes(&self) -> bool {
        self.cluster.as_ref().is_none_or(|cluster| cluster.metadata.deletion_timestamp.is_some())
    }
}

/// Looks at everything.
pub(super) async fn observe(
    context: &Context,
    managers: &Managers,
    member: Arc<Member>,
    epoch: Epoch,
) -> Seen {
    let name = Name::of(member.as_ref());
    let of = name.beside(&member.spec.cluster_name);
    let cluster = context.caches.clusters.get(&of);
    let uid = cluster.as_ref().and_then(|cluster| cluster.uid()).unwrap_or_default();
    let manager = managers.under(&of, &uid, epoch);
    let pause =
        cluster.as_ref().map(|cluster| Pause::from_annotations(cluster.metadata.annotations.as_ref()));
    let pause = pause.unwrap_or_default();
    let view = match &manager {
        Some(manager) => manager.view.borrow().clone(),
        None if pause.clustering => Arc::new(View::starting().stopped(None)),
        None => Arc::new(View::starting()),
    };
    let claims = claims(context, &member, &name).await;
    Seen {
        config: config(context, &member, &name),
        set: context.caches.stateful_sets.get(&name),
        pod: context.caches.pods.get(&name.beside(names::pod(&name.name))),
        claims,
        pause,
        view,
        managed: manager.is_some(),
        now: context.clock.now(),
        name,
        of,
        member,
        cluster,
    }
}

/// The claims that a Member names. Those that a person made carry no labels of ours and are not watched, but read.
async fn claims(
    context: &Context,
    member: &Member,
    name: &Name,
) -> Vec<(String, Lookup<Arc<PersistentVolumeClaim>>)> {
    let mut claims = Vec::new();
    for storage in &member.spec.storage {
        let Some(claim) = &storage.pvc_name else { continue };
        let found = match context.caches.claims.get(&name.beside(claim)) {
            Some(found) => Lookup::Found(found),
            None if storage.claim.is_some() => Lookup::NotFound,
            None => match context.door.read::<PersistentVolumeClaim>(&name.beside(claim)).await {
                Ok(Some(found)) => Lookup::Found(Arc::new(found)),
                Ok(None) => Lookup::NotFound,
                Err(error) => Lookup::Unreadable(error.to_string()),
            },
        };
        claims.push((claim.clone(), found));
    }
    claims
}

fn config(context: &Context, member: &Member, name: &Name) -> Result<Arc<MemberConfig>, String> {
    let workload = member.spec.workload.as_ref().ok_or("its cluster has not given it a workload yet")?;
    let config = name.beside(&workload.config);
    let found = context.caches.config_maps.get(&config);
    let found = found.ok_or_else(|| format!("ConfigMap {} does not exist", workload.config))?;
    context.caches.configs.read(&config, &found)
}
