//! The controller of `Member`: observe → validate → decide → apply → report, in this order, in [`reconcile`].

mod apply;
mod finalize;
mod observe;
mod pod;
mod report;

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use muster_api::Member;
use muster_api::names::FINALIZER_MEMBER;
use muster_core::generation::{Own, own};
use muster_core::status::MemberTruths;
use muster_core::validation::references::{Lookup, MemberReferences};
use muster_core::validation::{Report, check_member};
use serde_json::json;

use self::apply::Wants;
use self::observe::Seen;
use self::report::Found;
use crate::cluster::apply::ApplyError;
use crate::cluster::observe::{SECRET_CHECK, read_secret};
use crate::cluster::{INVALID_CHECK, OVERTAKEN, TAKEN_CHECK};
use crate::context::Context;
use crate::credentials::CredentialError;
use crate::door::CallError;
use crate::key::{Key, Name};
use crate::lease::Epoch;
use crate::manager::{Managers, START_LIMIT};
use crate::memory::{Shared, lock};
use crate::news::{self, MemberTold};
use crate::pass::{PassError, fresh};
use crate::queue::Then;
use crate::status::{self, Reported, Which};

/// One pass over a Member.
pub async fn reconcile(
    context: &Arc<Context>,
    managers: &Managers,
    name: &Name,
    epoch: Epoch,
) -> Result<Then, PassError> {
    let Some(member) = context.caches.members.get(name) else { return Ok(Then::Rest) };
    let cluster = name.beside(&member.spec.cluster_name);
    if context.is_elsewhere(&cluster) {
        return Ok(Then::Rest);
    }
    if let Some(then) = fresh(context, &cluster, &Key::Member(name.clone())).await? {
        return Ok(then);
    }
    let seen = observe::observe(context, managers, member, epoch).await;
    let cluster_uid = seen.cluster.as_ref().and_then(|cluster| cluster.uid()).unwrap_or_default();
    let memory = context.memories.of(&cluster, &cluster_uid, epoch);
    Pass { context, seen, memory, withheld: None }.run().await
}

/// One pass, with what it looks at.
struct Pass<'a> {
    context: &'a Arc<Context>,
    seen: Seen,
    memory: Shared,
    /// For how long its status is withheld.
    withheld: Option<Duration>,
}

impl Pass<'_> {
    fn uid(&self) -> String {
        self.seen.member.uid().unwrap_or_default()
    }

    async fn run(mut self) -> Result<Then, PassError> {
        let passed = self.carry_on().await;
        if passed.is_err() {
            self.doubt();
        }
        Ok(passed?.within(self.withheld))
    }

    /// It rests before it looks again, and its cluster must not count it meanwhile by what was found before.
    fn doubt(&self) {
        let mut memory = lock(&self.memory);
        let member = memory.member(&self.seen.name.name, &self.uid());
        let doubted = member.truths.map(MemberTruths::in_doubt);
        if std::mem::replace(&mut member.truths, doubted) != doubted {
            self.context.queue.add(Key::Cluster(self.seen.of.clone()));
        }
    }

    async fn carry_on(&mut self) -> Result<Then, PassError> {
        let (known, applied) = {
            let mut memory = lock(&self.memory);
            let member = memory.member(&self.seen.name.name, &self.uid());
            (member.generation, member.applied)
        };
        if own(self.seen.generation(), known) == Own::Stale {
            return Ok(Then::Later(Duration::from_secs(1)));
        }
        let report = self.validate().await;
        if self.seen.deleting() {
            return self.end(&report).await;
        }
        let generation = Some(self.seen.generation());
        // One that was only noted, because reconciliation was stopped, is as new as one that was never seen.
        let new = known != generation || applied != generation;
        lock(&self.memory).member(&self.seen.name.name, &self.uid()).generation = generation;
        let wants = self.want();
        let mut found =
            Found { report: &report, wants: Some(&wants), taken: None, refused: None, outdated: false };
        if self.seen.pause.reconciliation || !report.is_valid() {
            self.note_equal(&wants);
            let again = if report.is_valid() { SECRET_CHECK } else { INVALID_CHECK };
            return self.report(&found).await.map(|()| Then::Again(again));
        }
        if new && !self.reset(&found).await? {
            return Ok(Then::Later(OVERTAKEN));
        }
        match self.hold().await {
            Ok(true) => return Ok(Then::Rest),
            Ok(false) => {}
            Err(error) => {
                // Nothing is made that nobody would look after; what is there goes on, and is reported.
                self.forget_applied(&wants);
                self.note_equal(&wants);
                found.refused = error.refusal();
                self.report(&found).await?;
                return Err(error.into());
            }
        }
        let credentials = crate::credentials::of_member(self.context, &self.seen.member, &self.memory).await;
        let outcome = apply::apply(self.context, &self.seen, &wants, &self.memory).await;
        if outcome.is_whole() && wants.held.is_none() && wants.unobserved.is_none() {
            let mut memory = lock(&self.memory);
            memory.member(&self.seen.name.name, &self.uid()).applied = generation;
        }
        found.refused = outcome.errors.iter().find_map(ApplyError::refusal);
        found.taken = outcome.taken.or_else(|| credentials.as_ref().err().and_then(CredentialError::taken));
        let taken = found.taken.is_some();
        let reported = self.report(&found).await;
        if !taken {
            credentials?;
        }
        match outcome.errors.into_iter().next() {
            Some(error) => Err(error.into()),
            None if taken => reported.map(|()| Then::Again(TAKEN_CHECK)),
            None => reported.map(|()| Then::Again(self.next_look())),
        }
    }

    fn want(&self) -> Wants {
        let parked = lock(&self.memory).intent.as_ref().map(|intent| intent.parked);
        apply::want(&self.seen, parked)
    }

    /// When to look again if nothing happens. A claim that a person made is not watched.
    fn next_look(&self) -> Duration {
        if self.seen.awaits_claim() { TAKEN_CHECK } else { SECRET_CHECK }
    }

    async fn validate(&self) -> Report {
        let member = &self.seen.member;
        let mut references = MemberReferences {
            cluster: if self.seen.cluster.is_some() { Lookup::Found(()) } else { Lookup::NotFound },
            secrets: std::collections::BTreeMap::new(),
        };
        if let Some(external) = &member.spec.external {
            let name = external.credentials.secret_name.clone();
            let secret = read_secret(self.context, &self.seen.name.beside(&name)).await;
            references.secrets.insert(name, crate::cluster::facts(&secret));
        }
        check_member(member, &references)
    }

    /// Adds our finalizer to a Member that a person made.
    async fn hold(&self) -> Result<bool, CallError> {
        let member = &self.seen.member;
        if member.finalizers().iter().any(|one| one == FINALIZER_MEMBER) {
            return Ok(false);
        }
        let mut finalizers = member.finalizers().to_vec();
        finalizers.push(FINALIZER_MEMBER.to_owned());
        let patch = json!({"metadata": {
            "resourceVersion": member.resource_version(), "finalizers": finalizers,
        }});
        self.context.door.merge::<Member>(&self.seen.of, &self.seen.name, &patch).await?;
        Ok(true)
    }

    /// The reset of a generation that was not applied before, before its workload is touched (R1.1).
    async fn reset(&mut self, found: &Found<'_>) -> Result<bool, PassError> {
        let stored = self.seen.member.status.as_ref().and_then(|status| status.observed_generation);
        if stored == Some(self.seen.generation()) {
            return Ok(true);
        }
        let verdict = self.judge(found);
        let written =
            status::write(self.context, &self.seen.of, &self.seen.member, &verdict, Which::Reset).await;
        match written {
            Ok(Reported::Same) => return Ok(true),
            Ok(Reported::Written { after, .. }) => {
                // What follows is written over this.
                let (name, uid) = (self.seen.name.name.clone(), self.uid());
                lock(&self.memory).member(&name, &uid).told = Some(MemberTold::by(&after));
                self.seen.member = Arc::new(*after);
                return Ok(true);
            }
            Ok(Reported::ThrownAway | Reported::Gone) | Err(_) => {}
        }
        lock(&self.memory).member(&self.seen.name.name, &self.uid()).generation = None;
        written?;
        Ok(false)
    }

    /// Where nothing may be applied, a child that equals what the spec builds counts as applied.
    fn note_equal(&self, wants: &Wants) {
        for child in &wants.children {
            if let crate::child::Placement::Same(applied) = child.placement(&self.context.caches) {
                let mut memory = lock(&self.memory);
                memory.member(&self.seen.name.name, &self.uid()).children.insert(child.id(), applied);
            }
        }
    }

    /// What an earlier spec made of its children says nothing about this one.
    fn forget_applied(&self, wants: &Wants) {
        let mut memory = lock(&self.memory);
        let member = memory.member(&self.seen.name.name, &self.uid());
        for child in &wants.children {
            member.children.remove(&child.id());
        }
    }

    /// The Member is being deleted. While reconciliation is stopped it waits, and says so.
    async fn end(&mut self, report: &Report) -> Result<Then, PassError> {
        // Nothing is applied to it any more: what its last spec asked for may never have reached its workload.
        let outdated = self.is_outdated();
        let found = Found { report, wants: None, taken: None, refused: None, outdated };
        self.report(&found).await?;
        if self.seen.pause.reconciliation && self.seen.cluster.is_some() {
            return Ok(Then::Rest);
        }
        // Else its StatefulSet would go, and leave behind the Pod that it let go of.
        pod::keep_labels(self.context, &self.seen).await?;
        if finalize::finalize(self.context, &self.seen).await? {
            lock(&self.memory).members.remove(&self.seen.name.name);
            self.context.metrics.forget_member(&self.seen.of, &self.seen.name.name);
            return Ok(Then::Rest);
        }
        Ok(Then::Again(crate::cluster::finalize::PATIENCE))
    }

    /// Whether its workload is there, and is not what its spec builds.
    fn is_outdated(&self) -> bool {
        let differs = |child: &crate::child::Child| {
            child.id().0 == crate::child::Kind::StatefulSet
                && matches!(child.placement(&self.context.caches), crate::child::Placement::Differs(_))
        };
        self.seen.set.is_some() && self.want().children.iter().any(differs)
    }

    fn judge(&self, found: &Found<'_>) -> muster_core::status::MemberVerdict {
        let mut memory = lock(&self.memory);
        report::judge(self.context, &self.seen, found, memory.member(&self.seen.name.name, &self.uid()))
    }

    async fn report(&mut self, found: &Found<'_>) -> Result<(), PassError> {
        let verdict = self.judge(found);
        let truths = verdict.truths();
        let changed = {
            let mut memory = lock(&self.memory);
            let member = memory.member(&self.seen.name.name, &self.uid());
            let looks = self.seen.view.manager != muster_core::pause::Manager::Starting;
            let looked = std::mem::replace(&mut member.looked, looks);
            member.truths.replace(truths) != Some(truths) || looked != looks
        };
        let of = Key::Cluster(self.seen.of.clone());
        self.withheld = self.waits_for_streams().then_some(START_LIMIT);
        if self.withheld.is_some() {
            if changed {
                self.context.queue.add(of);
            }
            return Ok(());
        }
        let written =
            status::write(self.context, &self.seen.of, &self.seen.member, &verdict, Which::Whole).await;
        if changed {
            // Its cluster counts what is known and what is stored: both are there now.
            self.context.queue.add(of);
        }
        if let Reported::Written { before, after } = written? {
            let (name, uid) = (self.seen.name.name.clone(), self.uid());
            let told = {
                let mut memory = lock(&self.memory);
                let member = memory.member(&name, &uid);
                member.previous.clone_from(&after.status);
                member.told.replace(MemberTold::by(&after))
            };
            news::of_member(self.context, &told.unwrap_or_else(|| MemberTold::by(&before)), &after);
            self.seen.member = Arc::new(*after);
        }
        Ok(())
    }

    /// After a restart nothing is written until everyone was heard, or was waited for long enough.
    fn waits_for_streams(&self) -> bool {
        let starting = self.seen.view.manager == muster_core::pause::Manager::Starting;
        let stored = self.seen.member.status.as_ref().and_then(|status| status.observed_generation);
        let memory = lock(&self.memory);
        // Before its cluster was looked at, and while there is someone to wait for.
        let awaited = memory.generation.is_none() || memory.intent.is_some();
        let known = stored == Some(self.seen.generation()) && !self.seen.deleting();
        starting && awaited && self.seen.cluster.is_some() && known
    }
}
