//! The controller of `ReplicatedCluster`: observe → validate → decide → apply → report, in this order, in [`reconcile`].

pub mod apply;
pub mod finalize;
mod members;
mod next_look;
pub mod observe;
pub mod report;
mod requests;
mod size;
mod steer;
mod tell;
mod validate;
mod want;
mod withhold;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_core::build::names;
use muster_core::generation::{Own, own};
use muster_core::pause::Stopped;
use muster_core::status::Picture;

use self::apply::ApplyError;
use self::observe::Seen;
use self::report::Found;
use self::size::Sized;
pub use self::validate::{Checked, facts};
use self::want::{WantError, Wants};
use crate::context::Context;
use crate::credentials::CredentialError;
use crate::door::CallError;
use crate::key::{Key, Name};
use crate::lease::{Epoch, NotLeader};
use crate::manager::{Handle, Managers, View};
use crate::memory::{Shared, lock};
use crate::pass::{PassError, fresh};
use crate::queue::Then;

/// How often an invalid spec is checked again: what it lacks may be a Secret, and those are not watched.
pub const INVALID_CHECK: Duration = Duration::from_secs(30);
/// How often it is looked whether a name that someone else has taken is free.
pub const TAKEN_CHECK: Duration = Duration::from_secs(30);
/// How long a pass rests that was overtaken: what it looked at has changed since. That is on its way to the caches, and
/// wakes it earlier; asking the API server all the while would not bring it sooner.
pub const OVERTAKEN: Duration = Duration::from_millis(100);

/// One pass over a cluster.
pub async fn reconcile(
    context: &Arc<Context>,
    managers: &Managers,
    name: &Name,
    epoch: Epoch,
) -> Result<Then, PassError> {
    let Some(cluster) = context.caches.clusters.get(name) else {
        forget(context, managers, name);
        return Ok(Then::Rest);
    };
    if context.is_elsewhere(name) {
        tracing::debug!(cluster = %name, "another operator looks after this namespace");
        // What that one does nobody tells us of: figures of ours would be claims.
        forget(context, managers, name);
        return Ok(Then::Rest);
    }
    if let Some(then) = fresh(context, name, &Key::Cluster(name.clone())).await? {
        return Ok(then);
    }
    let memory = context.memories.of(name, &cluster.uid().unwrap_or_default(), epoch);
    let manager = steer::steer(context, managers, &cluster, &memory)?;
    let view =
        manager.as_ref().map_or_else(|| Arc::new(View::starting()), |manager| manager.view.borrow().clone());
    let view =
        if manager.is_none() && is_paused(&cluster) { Arc::new((*view).clone().stopped(None)) } else { view };
    let seen = observe::observe(context, cluster, view, &memory).await;
    lock(&memory).since.get_or_insert(seen.now);
    let pass = Pass { context, managers, seen, memory: memory.clone(), manager, withheld: None };
    let passed = pass.run().await;
    let valid = lock(&memory).report.as_ref().is_some_and(|(_, report)| report.is_valid());
    if passed.is_err() || !valid {
        // A Secret may be what is wrong, and is the one thing that nobody tells us of.
        lock(&memory).secrets = None;
    }
    passed
}

fn is_paused(cluster: &ReplicatedCluster) -> bool {
    muster_core::pause::Pause::from_annotations(cluster.metadata.annotations.as_ref()).clustering
}

/// A cluster that is gone leaves nothing behind in memory.
fn forget(context: &Context, managers: &Managers, name: &Name) {
    managers.drop(name);
    context.memories.forget(name);
    context.metrics.forget_cluster(name);
    context.door.guard().forget_cluster(name);
    context.queue.moved(name);
}

/// One pass, with what it looks at.
struct Pass<'a> {
    context: &'a Arc<Context>,
    managers: &'a Managers,
    seen: Seen,
    memory: Shared,
    manager: Option<Handle>,
    /// For how long its status is withheld.
    withheld: Option<Duration>,
}

/// What a pass decided.
struct Decided {
    sized: Sized,
    wants: Result<Wants, WantError>,
}

impl Pass<'_> {
    async fn run(mut self) -> Result<Then, PassError> {
        let generation = self.seen.generation();
        if own(generation, lock(&self.memory).generation) == Own::Stale {
            // Read again, decide nothing (R1.5): the newer one is on its way to the caches.
            return Ok(Then::Later(Duration::from_secs(1)));
        }
        let view = self.seen.view.clone();
        let looking = view.clustering(&[]).looking(self.seen.pause);
        let picture = looking.as_ref().ok();
        let taken_up = self.take_up_request(picture).await;
        let passed = self.carry_on(picture).await;
        taken_up?;
        Ok(passed?.within(self.withheld))
    }

    /// What keeps a request from being taken up keeps nothing else from being done, or reported.
    async fn take_up_request(&mut self, picture: Option<&Picture<'_>>) -> Result<(), PassError> {
        let taken = requests::take_up(self.context, &self.seen, picture, self.manager.as_ref()).await?;
        let Some(taken) = taken else { return Ok(()) };
        self.seen.cluster = Arc::new(taken.from);
        if let Some(refused) = taken.refused {
            lock(&self.memory).last_request = Some(refused);
        }
        Ok(())
    }

    /// The pass itself.
    async fn carry_on(&mut self, picture: Option<&Picture<'_>>) -> Result<Then, PassError> {
        if self.seen.deleting() {
            return self.end(picture).await;
        }
        let report = validate::validate(&self.context.caches, &self.seen, &mut lock(&self.memory));
        let valid = report.is_valid();
        let new = self.note_generation(report);
        if self.seen.pause.reconciliation {
            return self.stand_still(picture).await;
        }
        lock(&self.memory).stopped = None;
        // One that was only noted, because reconciliation was stopped, is as new as one that was never seen.
        let due = new || lock(&self.memory).applied != Some(self.seen.generation());
        if due && !self.reset().await? {
            return Ok(Then::Later(OVERTAKEN));
        }
        match finalize::hold(self.context, &self.seen.cluster, &self.seen).await {
            Ok(true) => return Ok(Then::Rest),
            Ok(false) => {}
            Err(error) => return self.make_nothing(valid, picture, error).await,
        }
        if !valid {
            self.go_on_as_it_is().await?;
            return self.report(&Found::default()).await.map(|_| Then::Again(INVALID_CHECK));
        }
        self.make_it_so(picture).await
    }

    /// Our finalizer could not be added, and nothing is made that nobody would look after. What is there goes on.
    async fn make_nothing(
        &mut self,
        valid: bool,
        picture: Option<&Picture<'_>>,
        error: CallError,
    ) -> Result<Then, PassError> {
        self.go_on_as_it_is().await?;
        let decided = valid.then(|| self.decide(picture));
        let (refused, unapplied) = error
            .refusal()
            .map_or_else(|| (Vec::new(), vec![error.to_string()]), |refusal| (vec![refusal], Vec::new()));
        let found = Found {
            sized: decided.as_ref().map(|decided| &decided.sized),
            wants: decided.as_ref().and_then(|decided| decided.wants.as_ref().ok()),
            refused,
            unapplied,
            ..Found::default()
        };
        self.note_equal(found.wants);
        self.report(&found).await?;
        Err(error.into())
    }

    /// Notes what the checks found. True: this generation was not seen before.
    fn note_generation(&self, report: muster_core::validation::Report) -> bool {
        let generation = self.seen.generation();
        let mut memory = lock(&self.memory);
        let new = memory.generation != Some(generation);
        memory.generation = Some(generation);
        memory.report = Some((generation, report));
        new
    }

    /// Reconciliation is stopped: nothing is touched, whatever the spec says; the manager runs on.
    async fn stand_still(&mut self, picture: Option<&Picture<'_>>) -> Result<Then, PassError> {
        lock(&self.memory).stopped.get_or_insert_with(Stopped::default);
        self.go_on_as_it_is().await?;
        let decided = self.decide(picture);
        let found =
            Found { sized: Some(&decided.sized), wants: decided.wants.as_ref().ok(), ..Found::default() };
        self.note_equal(found.wants);
        self.report(&found).await.map(|_| Then::Again(self.seen.next_check))
    }

    /// Where nothing may be applied, a child that equals what the spec builds counts as applied.
    fn note_equal(&self, wants: Option<&Wants>) {
        for child in wants.into_iter().flat_map(|wants| wants.children.iter().chain(&wants.members)) {
            if let crate::child::Placement::Same(applied) = child.placement(&self.context.caches) {
                lock(&self.memory).children.insert(child.id(), applied);
            }
        }
    }

    /// The spec is not valid, or nothing may be made of it: the cluster goes on as its Members are.
    async fn go_on_as_it_is(&self) -> Result<(), NotLeader> {
        self.know_agents().await;
        steer::keep_on(self.context, &self.seen.cluster, &mut lock(&self.memory));
        self.steer().map(drop)
    }

    /// Nothing is made of its credentials, but by those that are there its manager reaches its agents, also after a restart.
    async fn know_agents(&self) {
        let known = crate::credentials::as_they_are(self.context, &self.seen, &self.memory).await;
        if let Err(error) = known {
            tracing::warn!(cluster = %self.seen.name, %error, "its agents cannot be reached");
            lock(&self.memory).secrets = None;
        }
    }

    fn steer(&self) -> Result<Option<Handle>, NotLeader> {
        steer::steer(self.context, self.managers, &self.seen.cluster, &self.memory)
    }

    /// Decides what is wanted, applies it, and reports what came of it.
    async fn make_it_so(&mut self, picture: Option<&Picture<'_>>) -> Result<Then, PassError> {
        let authority = crate::credentials::of_cluster(self.context, &self.seen, &self.memory).await;
        if let Some(engine) = &self.seen.engine {
            steer::intend(self.context, &self.seen.cluster, engine, &mut lock(&self.memory));
        }
        self.steer()?;
        let decided = self.decide(picture);
        let taken: Vec<String> =
            authority.as_ref().err().and_then(CredentialError::taken).into_iter().collect();
        if !taken.is_empty() {
            let found = Found { sized: Some(&decided.sized), taken, ..Found::default() };
            lock(&self.memory).secrets = None;
            return self.report(&found).await.map(|_| Then::Again(TAKEN_CHECK));
        }
        let wants = match &decided.wants {
            Ok(wants) => wants,
            Err(error) => {
                let found = Found {
                    sized: Some(&decided.sized),
                    unobserved: vec![error.to_string()],
                    ..Found::default()
                };
                self.report(&found).await?;
                authority?;
                // The account Secrets may be what is missing.
                let outcome = self.make_accounts().await;
                return outcome
                    .map_or_else(|error| Err(error.into()), |()| Ok(Then::Again(Duration::from_secs(1))));
            }
        };
        let unapplied = self.unapplied(wants);
        let mut found =
            Found { sized: Some(&decided.sized), wants: Some(wants), unapplied, ..Found::default() };
        // What is about to be touched is not as desired: that is said first. By a spec that is not there any more nobody is
        // touched: another one may keep who would leave now.
        if apply::touches_members(self.context, wants) && !self.report(&found).await? {
            return Ok(Then::Later(OVERTAKEN));
        }
        let outcome = apply::apply(self.context, &self.seen, wants, &self.memory).await;
        found.unapplied = outcome.unapplied();
        if outcome.is_whole() && authority.is_ok() {
            lock(&self.memory).applied = Some(self.seen.generation());
        }
        found.refused = outcome.errors.iter().filter_map(ApplyError::refusal).collect();
        found.taken = outcome.taken;
        let taken = !found.taken.is_empty();
        if taken {
            lock(&self.memory).secrets = None;
        }
        let reported = self.report(&found).await;
        authority?;
        let first: Option<ApplyError> = outcome.errors.into_iter().next();
        match first {
            Some(error) => Err(error.into()),
            // An object of someone else is not watched: whether it has gone is seen by looking.
            None if taken => reported.map(|_| Then::Again(TAKEN_CHECK)),
            None => reported.map(|_| self.next_look(&decided.sized)),
        }
    }

    /// What of the cluster itself this generation has not reached yet, in words.
    fn unapplied(&self, wants: &Wants) -> Vec<String> {
        if lock(&self.memory).applied == Some(self.seen.generation()) {
            return Vec::new();
        }
        apply::outstanding(self.context, wants)
    }

    /// Makes account Secrets where the members could not be built for want of them.
    async fn make_accounts(&self) -> Result<(), ApplyError> {
        let Some(engine) = &self.seen.engine else { return Ok(()) };
        for account in &engine.spec.secrets {
            let name = names::account_secret(&self.seen.name.name, &account.name);
            if self.seen.secrets.get(&name) == Some(&muster_core::validation::references::Lookup::NotFound) {
                let mut random = |bytes: &mut [u8]| self.context.chance.fill(bytes);
                let secret = muster_core::build::secrets::account(&self.seen.cluster, account, &mut random);
                let made = apply::make(self.context, &secret).await;
                made.map_err(|error| ApplyError::Call { what: format!("Secret {name}"), error })?;
            }
        }
        Ok(())
    }

    fn decide(&self, picture: Option<&Picture<'_>>) -> Decided {
        let mut memory = lock(&self.memory);
        let reserved = reserved(self.context, &self.seen);
        let sized = size::size(&self.seen, picture, &reserved, &mut memory);
        let hash_key = crate::credentials::hash_key(&self.seen);
        let image = &self.context.agent_image;
        let wants = match hash_key {
            Some(key) => want::want(&self.seen, &sized, picture, &key, image, &memory),
            None => Err(WantError::Secret(names::agent_ca(&self.seen.name.name))),
        };
        Decided { sized, wants }
    }

    /// The cluster is being deleted.
    async fn end(&mut self, _: Option<&Picture<'_>>) -> Result<Then, PassError> {
        let waits = self.seen.pause.reconciliation;
        self.know_agents().await;
        let can_manage = {
            let mut memory = lock(&self.memory);
            steer::keep_on(self.context, &self.seen.cluster, &mut memory);
            if let Some(intent) = &mut memory.intent {
                intent.parked = intent.parked || !waits;
            }
            memory.stopped = waits.then(Stopped::default);
            memory.generation = Some(self.seen.generation());
            memory.intent.is_some()
        };
        self.steer()?;
        if !self.report(&Found::default()).await? {
            return Ok(Then::Later(OVERTAKEN));
        }
        if waits || finalize::finalize(self.context, &self.seen, can_manage).await? {
            return Ok(Then::Rest);
        }
        Ok(Then::Again(finalize::PATIENCE))
    }
}

/// The ordinals of members that were given up and whose claims are still there, by pool.
fn reserved(context: &Context, seen: &Seen) -> BTreeMap<String, BTreeSet<u32>> {
    let mut reserved: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for claim in context.caches.claims.of_cluster(&seen.name) {
        let member = claim.labels().get(muster_api::names::LABEL_MEMBER).cloned().unwrap_or_default();
        if claim.annotations().contains_key(muster_api::names::ANNOTATION_FORGOTTEN)
            && let Some((_, pool, ordinal)) = names::parse_member(&member)
        {
            reserved.entry(pool.to_owned()).or_default().insert(ordinal);
        }
    }
    reserved
}
