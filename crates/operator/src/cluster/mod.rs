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
mod validate;
mod want;
mod withhold;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::ConditionType;
use muster_core::build::names;
use muster_core::conditions;
use muster_core::generation::{Own, own};
use muster_core::pause::Stopped;
use muster_core::status::{ClusterVerdict, Picture};

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
use crate::lease::NotLeader;
use crate::manager::{Handle, Managers, View};
use crate::memory::{Shared, lock};
use crate::metrics::ClusterFigures;
use crate::news;
use crate::pass::{PassError, fresh};
use crate::queue::Then;
use crate::status::{self, Reported, Which};

/// How often an invalid spec is checked again: what it lacks may be a Secret, and those are not watched.
pub const INVALID_CHECK: Duration = Duration::from_secs(30);
/// How often it is looked whether a name that someone else has taken is free.
pub const TAKEN_CHECK: Duration = Duration::from_secs(30);

/// One pass over a cluster.
pub async fn reconcile(context: &Arc<Context>, managers: &Managers, name: &Name) -> Result<Then, PassError> {
    let Some(cluster) = context.caches.clusters.get(name) else {
        forget(context, managers, name);
        return Ok(Then::Rest);
    };
    if context.is_elsewhere(name) {
        tracing::debug!(cluster = %name, "another operator looks after this namespace");
        managers.drop(name);
        return Ok(Then::Rest);
    }
    if let Some(then) = fresh(context, name, &Key::Cluster(name.clone())).await? {
        return Ok(then);
    }
    let memory = context.memories.of(name, &cluster.uid().unwrap_or_default());
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
            return Ok(Then::Again(Duration::from_secs(1)));
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
        if new && !self.reset(picture).await? {
            return Ok(Then::Again(Duration::ZERO));
        }
        match finalize::hold(self.context, &self.seen.cluster, &self.seen).await {
            Ok(true) => return Ok(Then::Rest),
            Ok(false) => {}
            Err(error) => return self.make_nothing(valid, picture, error).await,
        }
        if !valid {
            self.go_on_as_it_is()?;
            return self.report(&Found::default()).await.map(|()| Then::Again(INVALID_CHECK));
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
        self.go_on_as_it_is()?;
        let decided = valid.then(|| self.decide(picture));
        let found = Found {
            sized: decided.as_ref().map(|decided| &decided.sized),
            wants: decided.as_ref().and_then(|decided| decided.wants.as_ref().ok()),
            refused: error.refusal().into_iter().collect(),
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

    /// Before the first child of a new generation is touched, status says that nothing is known of it yet (R1.1). A status
    /// that is at this generation already was written by whoever operated before us.
    async fn reset(&mut self, _: Option<&Picture<'_>>) -> Result<bool, PassError> {
        let stored = self.seen.cluster.status.as_ref().and_then(|status| status.observed_generation);
        if stored == Some(self.seen.generation()) {
            return Ok(true);
        }
        let verdict = report::judge(self.context, &self.seen, &Found::default(), &mut lock(&self.memory));
        let written =
            status::write(self.context, &self.seen.name, &self.seen.cluster, &verdict, Which::Reset).await;
        match written {
            Ok(Reported::Same) => Ok(true),
            Ok(Reported::Written { after, .. }) => {
                // What follows is written over this.
                self.seen.cluster = Arc::new(*after);
                Ok(true)
            }
            Ok(Reported::ThrownAway | Reported::Gone) => {
                lock(&self.memory).generation = None;
                Ok(false)
            }
            Err(error) => {
                lock(&self.memory).generation = None;
                Err(error.into())
            }
        }
    }

    /// Reconciliation is stopped: nothing is touched, whatever the spec says; the manager runs on.
    async fn stand_still(&mut self, picture: Option<&Picture<'_>>) -> Result<Then, PassError> {
        {
            let mut memory = lock(&self.memory);
            steer::keep_on(self.context, &self.seen.cluster, &mut memory);
            memory.stopped.get_or_insert_with(Stopped::default);
        }
        self.steer()?;
        let decided = self.decide(picture);
        let found =
            Found { sized: Some(&decided.sized), wants: decided.wants.as_ref().ok(), ..Found::default() };
        self.note_equal(found.wants);
        self.report(&found).await.map(|()| Then::Again(self.seen.next_check))
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
    fn go_on_as_it_is(&self) -> Result<(), NotLeader> {
        steer::keep_on(self.context, &self.seen.cluster, &mut lock(&self.memory));
        self.steer().map(drop)
    }

    fn steer(&self) -> Result<Option<Handle>, NotLeader> {
        steer::steer(self.context, self.managers, &self.seen.cluster, &self.memory)
    }

    /// Decides what is wanted, applies it, and reports what came of it.
    async fn make_it_so(&mut self, picture: Option<&Picture<'_>>) -> Result<Then, PassError> {
        let authority = crate::credentials::of_cluster(self.context, &self.seen, &self.memory).await;
        if let Some(engine) = &self.seen.engine {
            steer::intend(&self.seen.cluster, engine, &mut lock(&self.memory));
        }
        self.steer()?;
        let decided = self.decide(picture);
        let taken: Vec<String> =
            authority.as_ref().err().and_then(CredentialError::taken).into_iter().collect();
        if !taken.is_empty() {
            let found = Found { sized: Some(&decided.sized), taken, ..Found::default() };
            lock(&self.memory).secrets = None;
            return self.report(&found).await.map(|()| Then::Again(TAKEN_CHECK));
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
        let mut found = Found { sized: Some(&decided.sized), wants: Some(wants), ..Found::default() };
        if apply::touches_members(self.context, wants) {
            // What is about to be touched is not as desired: that is said first.
            self.report(&found).await?;
        }
        let outcome = apply::apply(self.context, &self.seen, wants, &self.memory).await;
        if outcome.errors.is_empty() && authority.is_ok() {
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
            None if taken => reported.map(|()| Then::Again(TAKEN_CHECK)),
            None => reported.map(|()| self.next_look(&decided.sized)),
        }
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
        self.report(&Found::default()).await?;
        if waits || finalize::finalize(self.context, &self.seen, can_manage).await? {
            return Ok(Then::Rest);
        }
        Ok(Then::Again(finalize::PATIENCE))
    }

    /// Writes what was found, and tells people what is news in it.
    async fn report(&mut self, found: &Found<'_>) -> Result<(), PassError> {
        let verdict = report::judge(self.context, &self.seen, found, &mut lock(&self.memory));
        self.measure(&verdict);
        self.withheld = withhold::withheld(&self.seen, &lock(&self.memory));
        if self.withheld.is_some() {
            return Ok(());
        }
        let written =
            status::write(self.context, &self.seen.name, &self.seen.cluster, &verdict, Which::Whole).await?;
        if let Reported::Written { before, after } = written {
            news::of_cluster(self.context, &before, &after);
            self.seen.cluster = Arc::new(*after);
            lock(&self.memory).shown = true;
            report::remember(&mut lock(&self.memory), &self.seen.cluster);
        }
        Ok(())
    }

    /// Shows what can be measured of the cluster.
    fn measure(&self, verdict: &ClusterVerdict) {
        let status = verdict.over(self.seen.cluster.status.as_ref(), self.seen.now);
        let stopped = |kind| {
            conditions::get(&status.conditions, kind).is_some_and(|condition| condition.status == "False")
        };
        let Some(phase) = status.phase.as_deref().and_then(|phase| phase.parse().ok()) else { return };
        let figures = ClusterFigures {
            phase,
            clustering_stopped: stopped(ConditionType::ClusteringActive),
            reconciliation_stopped: stopped(ConditionType::ReconciliationActive),
        };
        self.context.metrics.cluster(&self.seen.name, figures);
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
