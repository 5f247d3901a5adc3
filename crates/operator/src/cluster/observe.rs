//! Observe: all that a pass of a cluster looks at, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_api::names::LABEL_MEMBER;
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::build::{names, secrets};
use muster_core::pause::Pause;
use muster_core::validation::references::Lookup;

use crate::context::Context;
use crate::key::Name;
use crate::manager::View;
use crate::manager::facts::main_runs;
use crate::memory::{Shared, lock};

/// How often Secrets are looked at while nothing else happens: they are not watched, and a changed one rolls the members.
pub const SECRET_CHECK: Duration = Duration::from_secs(600);

/// The Secrets that a cluster uses, by name, as they were found.
pub type Secrets = BTreeMap<String, Lookup<Secret>>;

/// The Secrets as they were last read, and what they were read for. A pass that only looks at what members have come to
/// does not read them again.
#[derive(Clone)]
pub struct ReadSecrets {
    secrets: Arc<Secrets>,
    at: Timestamp,
    reason: Reason,
}

/// What Secrets are read for anew: whatever a person changes about the cluster, and another engine.
#[derive(Clone, PartialEq, Eq)]
struct Reason {
    generation: Option<i64>,
    deleting: bool,
    annotations: Option<BTreeMap<String, String>>,
    engine: Option<(Option<String>, Option<String>)>,
}

impl Reason {
    fn of(cluster: &ReplicatedCluster, engine: Option<&ReplicationEngine>) -> Self {
        Self {
            generation: cluster.metadata.generation,
            deleting: cluster.metadata.deletion_timestamp.is_some(),
            annotations: cluster.metadata.annotations.clone(),
            engine: engine.map(|engine| (engine.uid(), engine.resource_version())),
        }
    }
}

impl ReadSecrets {
    /// Whether they need not be read again. What was not there, or could not be read, is looked for each time.
    fn holds(&self, reason: &Reason, now: Timestamp) -> bool {
        let all_found = self.secrets.values().all(|secret| matches!(secret, Lookup::Found(_)));
        all_found && self.reason == *reason && left(self.at, now) > Duration::ZERO
    }
}

/// How long until Secrets that were read then are read again.
fn left(at: Timestamp, now: Timestamp) -> Duration {
    let passed = Duration::try_from(now.duration_since(at)).unwrap_or_default();
    SECRET_CHECK.saturating_sub(passed)
}

/// All that a pass looks at.
pub struct Seen {
    /// The cluster's name.
    pub name: Name,
    /// Its uid.
    pub uid: String,
    /// The cluster.
    pub cluster: Arc<ReplicatedCluster>,
    /// Its engine.
    pub engine: Option<Arc<ReplicationEngine>>,
    /// Its Members, by name.
    pub members: Vec<Arc<Member>>,
    /// The Members in whose Pods something runs.
    pub running_pods: BTreeSet<String>,
    /// The Secrets that it uses.
    pub secrets: Arc<Secrets>,
    /// When they are to be read again.
    pub next_check: Duration,
    /// What is stopped.
    pub pause: Pause,
    /// What its manager tells.
    pub view: Arc<View>,
    /// When this was.
    pub now: Timestamp,
}

impl Seen {
    /// The generation of the spec.
    pub fn generation(&self) -> i64 {
        self.cluster.metadata.generation.unwrap_or(0)
    }

    /// Whether it is being deleted.
    pub fn deleting(&self) -> bool {
        self.cluster.metadata.deletion_timestamp.is_some()
    }

    /// The contents of the Secrets whose change rolls the members; none while one of them cannot be read.
    pub fn used_secrets(
        &self,
        used: &BTreeSet<String>,
    ) -> Option<BTreeMap<String, BTreeMap<String, ByteString>>> {
        let data = |name: &String| match self.secrets.get(name)? {
            Lookup::Found(secret) => Some((name.clone(), secret.data.clone().unwrap_or_default())),
            Lookup::NotFound | Lookup::Unreadable(_) => None,
        };
        used.iter().map(data).collect()
    }
}

/// Looks at everything.
pub async fn observe(
    context: &Context,
    cluster: Arc<ReplicatedCluster>,
    view: Arc<View>,
    memory: &Shared,
) -> Seen {
    let name = Name::of(cluster.as_ref());
    let engine = context.caches.engines.get(&Name::new("", &cluster.spec.engine.name));
    let now = context.clock.now();
    let reason = Reason::of(&cluster, engine.as_deref());
    let known = lock(memory).secrets.clone().filter(|known| known.holds(&reason, now));
    let known = if let Some(known) = known {
        known
    } else {
        let secrets = Arc::new(read_secrets(context, &cluster, engine.as_deref()).await);
        let read = ReadSecrets { secrets, at: now, reason };
        lock(memory).secrets = Some(read.clone());
        read
    };
    Seen {
        uid: cluster.uid().unwrap_or_default(),
        pause: Pause::from_annotations(cluster.metadata.annotations.as_ref()),
        members: context.caches.members.of_cluster(&name),
        running_pods: running_pods(context, &name),
        next_check: left(known.at, now),
        secrets: known.secrets,
        now,
        name,
        cluster,
        engine,
        view,
    }
}

fn running_pods(context: &Context, cluster: &Name) -> BTreeSet<String> {
    let pods = context.caches.pods.of_cluster(cluster).into_iter().filter(|pod| main_runs(pod));
    pods.filter_map(|pod| pod.labels().get(LABEL_MEMBER).cloned()).collect()
}

async fn read_secrets(
    context: &Context,
    cluster: &ReplicatedCluster,
    engine: Option<&ReplicationEngine>,
) -> Secrets {
    let name = Name::of(cluster);
    let mut found = Secrets::new();
    for secret in secret_names(cluster, engine) {
        let lookup = read_secret(context, &name.beside(&secret)).await;
        found.insert(secret, lookup);
    }
    found
}

/// The Secrets that are looked at: those that the spec names, those of the engine, and the agents' CA.
fn secret_names(cluster: &ReplicatedCluster, engine: Option<&ReplicationEngine>) -> BTreeSet<String> {
    let mut wanted = match engine {
        Some(engine) => secrets::used_by_members(cluster, &engine.spec),
        None => secrets::named_by(cluster),
    };
    wanted.insert(names::agent_ca(names::of_cluster(cluster)));
    wanted
}

/// Reads a Secret by name. Secrets are never listed or watched.
pub async fn read_secret(context: &Context, name: &Name) -> Lookup<Secret> {
    match context.door.read::<Secret>(name).await {
        Ok(Some(secret)) => Lookup::Found(secret),
        Ok(None) => Lookup::NotFound,
        Err(error) => Lookup::Unreadable(error.to_string()),
    }
}
