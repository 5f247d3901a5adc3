//! Observe: all that a pass of a cluster looks at, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_core::build::{names, secrets};
use muster_core::pause::Pause;
use muster_core::validation::references::Lookup;

use crate::context::Context;
use crate::key::Name;
use crate::manager::View;

/// How often Secrets are looked at while nothing else happens: they are not watched, and a changed one rolls the members.
pub const SECRET_CHECK: Duration = Duration::from_secs(600);

/// The Secrets that a cluster uses, by name, as they were found.
pub type Secrets = BTreeMap<String, Lookup<Secret>>;

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
    /// The Secrets that it uses.
    pub secrets: Secrets,
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
pub async fn observe(context: &Context, cluster: Arc<ReplicatedCluster>, view: Arc<View>) -> Seen {
    let name = Name::of(cluster.as_ref());
    let engine = context.caches.engines.get(&Name::new("", &cluster.spec.engine.name));
    let wanted = secret_names(&cluster, engine.as_deref());
    let mut found = Secrets::new();
    for secret in wanted {
        let lookup = read_secret(context, &name.beside(&secret)).await;
        found.insert(secret, lookup);
    }
    Seen {
        uid: cluster.uid().unwrap_or_default(),
        pause: Pause::from_annotations(cluster.metadata.annotations.as_ref()),
        members: context.caches.members.of_cluster(&name),
        secrets: found,
        now: context.clock.now(),
        name,
        cluster,
        engine,
        view,
    }
}

/// The Secrets that are looked at: those that the spec names, those of the engine, and the agents' CA.
fn secret_names(cluster: &ReplicatedCluster, engine: Option<&ReplicationEngine>) -> BTreeSet<String> {
    let mut wanted = engine.map(|engine| secrets::used_by_members(cluster, &engine.spec)).unwrap_or_default();
    let spec = &cluster.spec;
    wanted.extend(spec.certificate_authority.iter().map(|named| named.secret_name.clone()));
    if let Some(replication) = &spec.replication {
        let targets = replication.targets.iter().filter_map(|target| target.credentials.as_ref());
        wanted.extend(replication.credentials.iter().chain(targets).map(|named| named.secret_name.clone()));
    }
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
