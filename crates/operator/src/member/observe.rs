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

use crate::context::Context;
use crate::key::Name;
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
    pub config: Result<MemberConfig, String>,
    /// Its workload.
    pub set: Option<Arc<StatefulSet>>,
    /// Its Pod.
    pub pod: Option<Arc<Pod>>,
    /// The claims that it names, as far as they exist.
    pub claims: Vec<(String, Option<Arc<PersistentVolumeClaim>>)>,
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

    /// Whether its cluster is being deleted, or gone.
    pub(super) fn cluster_goes(&self) -> bool {
        self.cluster.as_ref().is_none_or(|cluster| cluster.metadata.deletion_timestamp.is_some())
    }
}

/// Looks at everything.
pub(super) fn observe(context: &Context, managers: &Managers, member: Arc<Member>) -> Seen {
    let name = Name::of(member.as_ref());
    let of = name.beside(&member.spec.cluster_name);
    let cluster = context.caches.clusters.get(&of);
    let uid = cluster.as_ref().and_then(|cluster| cluster.uid()).unwrap_or_default();
    let manager = managers.get(&of, &uid);
    let pause =
        cluster.as_ref().map(|cluster| Pause::from_annotations(cluster.metadata.annotations.as_ref()));
    let pause = pause.unwrap_or_default();
    let view = match &manager {
        Some(manager) => manager.view.borrow().clone(),
        None if pause.clustering => Arc::new(View::starting().stopped(None)),
        None => Arc::new(View::starting()),
    };
    let claims = member.spec.storage.iter().filter_map(|storage| storage.pvc_name.clone());
    let claims =
        claims.map(|claim| (claim.clone(), context.caches.claims.get(&name.beside(&claim)))).collect();
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

fn config(context: &Context, member: &Member, name: &Name) -> Result<MemberConfig, String> {
    let workload = member.spec.workload.as_ref().ok_or("its cluster has not given it a workload yet")?;
    let found = context.caches.config_maps.get(&name.beside(&workload.config));
    let found = found.ok_or_else(|| format!("ConfigMap {} does not exist", workload.config))?;
    MemberConfig::read(&found).map_err(|error| error.to_string())
}
