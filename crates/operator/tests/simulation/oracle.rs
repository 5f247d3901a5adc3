//! The oracle: it sees every change the moment it happens, and holds what is said against what is so.
//!
//! - Ready=True at the generation is written only when it is so, and taken back soon when it is not any more.
//! - A Pod carries a role only where that is right: whoever is told to stop or to step down lost it before, and a primary gets
//!   it only when it serves in the newest term.
//! - `observedGeneration` never goes back, but where DESIGN section 5 says it.
//! - Nobody but a person changes a spec.
//!
//! What comes and goes with machines cannot be known at once: it excuses for a moment after a machine was hurt, no longer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use muster_apiserver::store::{Change, ChangeKind};
use muster_test_agents::Fleet;
use serde_json::Value;
use tokio::time::Instant;

use super::claims::{Claims, is_stopped};
use super::roles;
use super::samples::{CLUSTER, Software};
use super::stored::{CLUSTERS, MEMBERS, PODS, Stored, says_ready};
use super::truth::{Lack, Truth, is_to_be_parked};
use super::world::AFTER_A_START;

/// For how long a word that was under way may be older than what happened to a machine: until its agent was heard, and what
/// was written before that is stored.
const UNDER_WAY: Duration = Duration::from_millis(100);
/// How many wrongs are kept: the first ones tell.
const ENOUGH: usize = 5;

/// The oracle. Cloning gives another handle to the same.
#[derive(Clone)]
pub(crate) struct Oracle(Arc<Mutex<Notes>>);

struct Notes {
    stored: Stored,
    fleet: Fleet,
    software: Software,
    /// The cluster as it is stored.
    cluster: Option<Value>,
    /// Whether a person is about to change the spec.
    edited: bool,
    /// Whether a person is about to write into the status.
    garbled: bool,
    /// Until when nobody can know that a machine was hurt.
    hurt: Option<Instant>,
    /// Until when nobody can take back what has become untrue.
    stunned: Option<Instant>,
    /// The operators that lead; none where one leads for as long as it lives.
    leaders: Option<BTreeSet<String>>,
    /// How much longer than usual nobody can know.
    slow: Duration,
    /// What is claimed to be so.
    claims: Claims,
    wrongs: Vec<String>,
    /// How often Ready was found to be true.
    confirmed: usize,
    /// How much was stored since it looks.
    changes: u64,
}

impl Oracle {
    /// One that looks at this fleet.
    pub(crate) fn new(fleet: &Fleet, software: Software) -> Self {
        let notes = Notes {
            stored: Stored::default(),
            fleet: fleet.clone(),
            software,
            cluster: None,
            edited: false,
            garbled: false,
            hurt: None,
            stunned: None,
            leaders: None,
            claims: Claims::default(),
            slow: Duration::ZERO,
            wrongs: Vec::new(),
            confirmed: 0,
            changes: 0,
        };
        Self(Arc::new(Mutex::new(notes)))
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap()
    }

    /// What was stored before it looks.
    pub(crate) fn knew(&self, change: &Change) {
        let mut notes = self.notes();
        notes.take(change);
        if is_our_cluster(change) {
            notes.set_cluster(Some(change.object.value()));
        }
    }

    /// Something was stored.
    pub(crate) fn see(&self, change: &Change) {
        let mut notes = self.notes();
        let carried = notes.role_on(change);
        let matters = notes.take(change);
        notes.changes += 1;
        if is_our_cluster(change) {
            let now = (change.kind != ChangeKind::Deleted).then(|| change.object.value());
            let before = notes.set_cluster(now);
            notes.judge_cluster(before.as_ref());
        } else if &*change.key.resource == MEMBERS {
            notes.judge_member(&change.key.name);
        } else if &*change.key.resource == PODS {
            notes.judge_role(&change.key.name, carried.as_deref());
        }
        if matters {
            notes.judge_claims();
        }
    }

    /// What machines do has changed, or time has passed.
    pub(crate) fn look(&self) {
        self.notes().judge_claims();
    }

    /// Has it look whenever what machines do has changed.
    pub(crate) fn listen(&self, fleet: &Fleet) {
        // It holds the fleet already.
        let notes = Arc::downgrade(&self.0);
        fleet.on_news(move || {
            if let Some(notes) = notes.upgrade() {
                Self(notes).look();
            }
        });
    }

    /// This member is told to stop or to step down, now.
    pub(crate) fn told_to_end(&self, member: &str, what: &str) {
        let mut notes = self.notes();
        let carries = notes.stored.pod(member).and_then(roles::role).map(str::to_owned);
        if let Some(role) = carries {
            notes.wrong(format!("{member} is told to {what} while its Pod carries {role}"));
        }
    }

    /// Whether a person is about to change the spec.
    pub(crate) fn expect_edit(&self, edited: bool) {
        self.notes().edited = edited;
    }

    /// Whether a person is about to write into the status, which is theirs to answer for.
    pub(crate) fn look_away(&self, garbled: bool) {
        self.notes().garbled = garbled;
    }

    /// A machine is hurt now, and its streams end with it.
    pub(crate) fn hurt(&self) {
        self.hurt_silently(Duration::ZERO);
    }

    /// A machine is hurt now, and for so long nobody notices that its streams are silent; or what is stored is told so much
    /// later.
    pub(crate) fn hurt_silently(&self, silence: Duration) {
        let mut notes = self.notes();
        let until = Instant::now() + UNDER_WAY + notes.slow + silence;
        notes.hurt = notes.hurt.max(Some(until));
        if !silence.is_zero() {
            notes.stunned = notes.stunned.max(Some(until));
        }
    }

    /// For so long nobody can take back what has become untrue.
    pub(crate) fn stun(&self, time: Duration) {
        let mut notes = self.notes();
        notes.stunned = notes.stunned.max(Some(Instant::now() + time));
    }

    /// This operator leads from now on, or does not. While nobody leads nobody takes back anything, and whoever begins has so long to
    /// find out what there is.
    pub(crate) fn lead(&self, who: &str, leads: bool) {
        let mut notes = self.notes();
        let leaders = notes.leaders.get_or_insert_default();
        if leads {
            leaders.insert(who.to_owned());
            notes.stunned = notes.stunned.max(Some(Instant::now() + AFTER_A_START));
        } else {
            leaders.remove(who);
        }
    }

    /// For so much longer nobody can know, and what was late before is so for as long.
    pub(crate) fn be_patient(&self, slow: Duration) {
        let before = std::mem::replace(&mut self.notes().slow, slow);
        self.stun(before);
    }

    /// What was wrong so far.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        let notes = self.notes();
        let mut wrongs = notes.wrongs.clone();
        wrongs.extend(notes.fleet.violations());
        wrongs
    }

    /// How often Ready was found to be true.
    pub(crate) fn confirmed(&self) -> usize {
        self.notes().confirmed
    }

    /// How much was stored since it looks.
    pub(crate) fn changes(&self) -> u64 {
        self.notes().changes
    }

    /// The cluster as it is stored.
    pub(crate) fn cluster<T>(&self, look: impl FnOnce(Option<&Value>) -> T) -> T {
        look(self.notes().cluster.as_ref())
    }

    /// A copy of it; nothing where there is none.
    pub(crate) fn copy(&self) -> Value {
        self.notes().cluster.clone().unwrap_or_default()
    }

    /// What is lacking for the cluster to be Ready, whatever status says.
    pub(crate) fn lacks(&self) -> Vec<Lack> {
        let notes = self.notes();
        notes.cluster.as_ref().map(|cluster| notes.truth().lacks(cluster)).unwrap_or_default()
    }

    /// The members whose Pods do not carry the roles that they are to carry at rest.
    pub(crate) fn mislabelled(&self) -> Vec<String> {
        self.notes().truth().mislabelled()
    }

    /// Everything that is stored.
    pub(crate) fn stored<T>(&self, look: impl FnOnce(&Stored) -> T) -> T {
        look(&self.notes().stored)
    }
}

fn is_our_cluster(change: &Change) -> bool {
    &*change.key.resource == CLUSTERS && change.key.name == CLUSTER
}

impl Notes {
    fn truth(&self) -> Truth<'_> {
        Truth::new(&self.stored, &self.fleet, self.software)
    }

    /// Takes in a change. True: what is claimed may have become untrue by it.
    fn take(&mut self, change: &Change) -> bool {
        self.stored.take(change);
        self.claims.object(&change.key.resource, &change.key.name, &self.stored)
    }

    fn set_cluster(&mut self, now: Option<Value>) -> Option<Value> {
        self.claims.cluster(now.as_ref());
        std::mem::replace(&mut self.cluster, now)
    }

    /// The role that this Pod carried before it changed.
    fn role_on(&self, change: &Change) -> Option<String> {
        let pod = self.stored.get(PODS, &change.key.name).filter(|_| &*change.key.resource == PODS);
        pod.and_then(roles::role).map(str::to_owned)
    }

    fn is_excused(&self) -> bool {
        self.hurt.is_some_and(|until| Instant::now() < until)
    }

    fn wrong(&mut self, what: String) {
        if self.wrongs.len() < ENOUGH {
            self.wrongs.push(what);
        }
    }

    fn judge_cluster(&mut self, before: Option<&Value>) {
        let Some(now) = self.cluster.clone() else { return };
        if let Some(before) = before.filter(|before| before["metadata"]["uid"] == now["metadata"]["uid"]) {
            self.judge_spec(before, &now);
            if before["status"] != now["status"] && std::mem::replace(&mut self.garbled, false) {
                return;
            }
            self.judge_generation(before, &now);
            if before["status"] == now["status"] {
                return;
            }
        }
        if says_ready(&now) {
            let lacks = self.truth().lacks(&now);
            self.confirmed += 1;
            self.judge_ready("the cluster", &lacks);
        }
    }

    /// A Member says Ready only where its own part is so.
    fn judge_member(&mut self, name: &str) {
        let parked = self.cluster.as_ref().is_none_or(is_to_be_parked);
        let Some(member) = self.stored.get(MEMBERS, name).filter(|it| !parked && says_ready(it)) else {
            return;
        };
        let lacks = self.truth().lacks_of_member(member);
        self.judge_ready(name, &lacks);
    }

    fn judge_ready(&mut self, who: &str, lacks: &[Lack]) {
        let excused = self.is_excused();
        let lacks: Vec<&str> =
            lacks.iter().filter(|it| !(it.of_machines && excused)).map(|it| it.what.as_str()).collect();
        if !lacks.is_empty() {
            self.wrong(format!("{who} was said to be Ready, and was not: {}", lacks.join("; ")));
        }
    }

    /// A Pod is given a role only where that is right.
    fn judge_role(&mut self, pod: &str, carried: Option<&str>) {
        let role = self.stored.get(PODS, pod).and_then(roles::role);
        if role.is_none() || role == carried || self.is_excused() {
            return;
        }
        if let Some(wrong) = self.truth().misled(pod.strip_suffix("-0").unwrap_or(pod)) {
            self.wrong(format!("a role was given that is not so: {wrong}"));
        }
    }

    /// What has become untrue is taken back in time.
    fn judge_claims(&mut self) {
        let nobody_leads = self.leaders.as_ref().is_some_and(BTreeSet::is_empty);
        let excused = if nobody_leads { Some(Instant::now()) } else { self.stunned };
        let Self { stored, fleet, software, cluster, claims, slow, .. } = self;
        let truth = || Truth::new(stored, fleet, *software);
        for outlived in claims.outlived(truth, cluster.as_ref(), excused, *slow) {
            self.wrong(outlived);
        }
    }

    fn judge_spec(&mut self, before: &Value, now: &Value) {
        if before["spec"] == now["spec"] {
            return;
        }
        if !std::mem::replace(&mut self.edited, false) {
            self.wrong(format!(
                "the spec was changed by nobody who may: {} to {}",
                before["spec"], now["spec"]
            ));
        }
    }

    fn judge_generation(&mut self, before: &Value, now: &Value) {
        let observed = |cluster: &Value| cluster["status"]["observedGeneration"].as_i64();
        // After a restart it may be lower then.
        if observed(now) < observed(before) && !is_stopped(now, "reconciliation") {
            let (was, is) = (observed(before), observed(now));
            self.wrong(format!("observedGeneration went back from {was:?} to {is:?}"));
        }
        if observed(now) > now["metadata"]["generation"].as_i64() {
            self.wrong(format!("observedGeneration {:?} is of the future", observed(now)));
        }
    }
}
