//! Apply: puts every wanted object in place, only where something differs, and lets go of what is not wanted any more.

use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use muster_api::Member;
use muster_api::names::{LABEL_CLUSTER, LABEL_DRIVER};
use muster_core::build::{names, secrets};
use muster_core::validation::references::Lookup;

use super::observe::Seen;
use super::want::Wants;
use crate::child::{Child, Kind, Placement, Put};
use crate::context::Context;
use crate::door::CallError;
use crate::key::{Key, Name};
use crate::memory::{Shared, lock};

/// Why something was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The API server did not take it.
    #[error("{what}: {error}")]
    Call {
        /// What was to be done.
        what: String,
        /// What came of it.
        error: CallError,
    },
}

impl ApplyError {
    /// In one word, for metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Call { error, .. } => error.reason(),
        }
    }

    /// What the API server will not have however often it is asked, in words. Anything else passes by itself.
    pub fn refusal(&self) -> Option<String> {
        let Self::Call { error, .. } = self;
        error.refusal()
    }

    /// What was not done this time, and will be tried again, in words.
    pub fn for_now(&self) -> Option<String> {
        let Self::Call { error, .. } = self;
        error.refusal().is_none().then(|| error.to_string())
    }
}

/// What applying led to.
#[derive(Default)]
pub struct Outcome {
    /// Objects under wanted names that belong to someone else.
    pub taken: Vec<String>,
    /// Objects whose names are not free yet, in words.
    pub waiting: Vec<String>,
    /// What went wrong; everything else was applied all the same.
    pub errors: Vec<ApplyError>,
}

impl Outcome {
    /// Whether all that was wanted is so.
    pub fn is_whole(&self) -> bool {
        self.taken.is_empty() && self.waiting.is_empty() && self.errors.is_empty()
    }

    /// What was not done this time, and will be, in words: until then nobody may say that this spec is in place.
    pub fn unapplied(&self) -> Vec<String> {
        self.errors.iter().filter_map(ApplyError::for_now).chain(self.waiting.iter().cloned()).collect()
    }

    fn note(&mut self, what: impl Into<String>, result: Result<(), CallError>) {
        if let Err(error) = result {
            self.errors.push(ApplyError::Call { what: what.into(), error });
        }
    }
}

/// Whether applying would touch a Member.
pub fn touches_members(context: &Context, wants: &Wants) -> bool {
    let differs = |child: &Child| child.placement(&context.caches).needs_apply();
    !wants.leaving.is_empty() || wants.members.iter().any(differs)
}

/// The cluster's own children that this spec has not reached, in words.
pub fn outstanding(context: &Context, wants: &Wants) -> Vec<String> {
    let differs = |child: &&Child| {
        let placement = child.placement(&context.caches);
        placement.needs_apply() || placement == Placement::Leaving
    };
    wants.children.iter().filter(differs).map(Child::words).collect()
}

/// Puts everything in place.
pub async fn apply(context: &Context, seen: &Seen, wants: &Wants, memory: &Shared) -> Outcome {
    let mut outcome = Outcome::default();
    accounts(context, seen, wants, memory, &mut outcome).await;
    let mut configured = true;
    for child in &wants.children {
        let placed = place(context, seen, child, memory, &mut outcome).await;
        configured &= placed || child.kind != Kind::ConfigMap;
    }
    // A member follows only a configuration that is there: what it has runs.
    for member in wants.members.iter().filter(|_| configured) {
        place(context, seen, member, memory, &mut outcome).await;
    }
    lock(memory).gains.extend(wants.gains.clone());
    for member in &wants.leaving {
        decommission(context, seen, member, &mut outcome).await;
    }
    prune(context, seen, wants, &mut outcome).await;
    outcome
}

/// Puts a child in place; whether it is.
async fn place(
    context: &Context,
    seen: &Seen,
    child: &Child,
    memory: &Shared,
    outcome: &mut Outcome,
) -> bool {
    match child.put(context, &seen.name).await {
        Ok(Put::There(applied)) => {
            lock(memory).children.insert(child.id(), applied);
            return true;
        }
        Ok(Put::Taken(why)) => outcome.taken.push(format!("{} ({why})", child.words())),
        Ok(Put::NotYet) => {
            outcome.waiting.push(format!("{} is made anew when the one before it has gone", child.words()));
        }
        Err(error) => {
            // What an earlier spec made of it says nothing about this one.
            lock(memory).children.remove(&child.id());
            outcome.note(child.words(), Err(error));
        }
    }
    false
}

/// Makes the account Secrets that are not there. One that is there is used as it is.
async fn accounts(context: &Context, seen: &Seen, wants: &Wants, memory: &Shared, outcome: &mut Outcome) {
    for account in &wants.accounts {
        let name = names::account_secret(&seen.name.name, &account.name);
        let mut random = |bytes: &mut [u8]| context.chance.fill(bytes);
        match seen.secrets.get(&name) {
            Some(Lookup::NotFound) => {
                let secret = secrets::account(&seen.cluster, account, &mut random);
                outcome.note(format!("Secret {name}"), make(context, &secret).await);
            }
            Some(Lookup::Found(live)) => {
                let wanted = secrets::account(&seen.cluster, account, &mut random);
                let lacking = secrets::missing(live, account, &mut random);
                if let Some(why) = muster_core::build::owners::taken(&wanted.metadata, &live.metadata) {
                    outcome.taken.push(format!("Secret {name} ({why})"));
                } else if !lacking.is_empty() {
                    lock(memory).secrets = None;
                    outcome.note(format!("Secret {name}"), add_keys(context, live, lacking).await);
                }
            }
            Some(Lookup::Unreadable(_)) | None => {}
        }
    }
}

/// Gives an account Secret the keys that its engine has asked for since it was made. The change rolls the members: the next
/// pass sees it.
async fn add_keys(context: &Context, live: &Secret, lacking: secrets::Data) -> Result<(), CallError> {
    let mut secret = live.clone();
    let data = secret.data.get_or_insert_default();
    data.extend(lacking.into_iter().map(|(key, value)| (key, ByteString(value))));
    context.door.replace_uncached(&secret).await?;
    if let Some(cluster) = live.labels().get(LABEL_CLUSTER) {
        context.queue.add(Key::Cluster(Name::of(live).beside(cluster)));
    }
    Ok(())
}

/// Creates a Secret; one that someone else has made meanwhile stands.
pub async fn make(context: &Context, secret: &Secret) -> Result<(), CallError> {
    match context.door.create_uncached(secret).await {
        Ok(_) | Err(CallError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Deletes a Member: its own controller decommissions it.
async fn decommission(context: &Context, seen: &Seen, name: &str, outcome: &mut Outcome) {
    let Some(member) = context.caches.members.get(&seen.name.beside(name)) else { return };
    if member.metadata.deletion_timestamp.is_some() {
        return;
    }
    tracing::info!(cluster = %seen.name, member = name, "decommissions");
    outcome.note(format!("Member {name}"), context.door.delete::<Member>(&seen.name, &member).await);
}

/// Lets go of drivers that are not asked for, and of configurations that no Member runs with.
async fn prune(context: &Context, seen: &Seen, wants: &Wants, outcome: &mut Outcome) {
    let wanted = |kind: Kind, name: &str| {
        wants.children.iter().any(|child| child.kind == kind && child.name.name == name)
    };
    let ours = |labels: &std::collections::BTreeMap<String, String>| labels.contains_key(LABEL_DRIVER);
    for live in context.caches.deployments.of_cluster(&seen.name) {
        if ours(live.labels()) && !wanted(Kind::Deployment, &live.name_any()) && is_staying(live.as_ref()) {
            let gone = context.door.delete::<Deployment>(&seen.name, &live).await;
            outcome.note(format!("Deployment {}", live.name_any()), gone);
        }
    }
    for live in context.caches.daemon_sets.of_cluster(&seen.name) {
        if ours(live.labels()) && !wanted(Kind::DaemonSet, &live.name_any()) && is_staying(live.as_ref()) {
            let gone = context.door.delete::<DaemonSet>(&seen.name, &live).await;
            outcome.note(format!("DaemonSet {}", live.name_any()), gone);
        }
    }
    let used = |name: &str| {
        let by =
            |member: &Member| member.spec.workload.as_ref().is_some_and(|workload| workload.config == name);
        wants.target.config == name || seen.members.iter().any(|member| by(member))
    };
    for live in context.caches.config_maps.of_cluster(&seen.name) {
        let name = live.name_any();
        let controlled = live.owner_references().iter().any(|owner| owner.uid == seen.uid);
        if controlled && !used(&name) && is_staying(live.as_ref()) {
            let gone = context.door.delete::<ConfigMap>(&seen.name, &live).await;
            outcome.note(format!("ConfigMap {name}"), gone);
        }
    }
}

fn is_staying(object: &impl ResourceExt) -> bool {
    object.meta().deletion_timestamp.is_none()
}
