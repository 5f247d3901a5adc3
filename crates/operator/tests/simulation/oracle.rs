//! The oracle: it sees every change the moment it is stored, and holds what status says against what is so.
//!
//! - Ready=True at the generation is written only when it is so.
//! - `observedGeneration` never goes back, but where DESIGN section 5 says it.
//! - Nobody but a person changes a spec.
//!
//! What comes and goes with machines cannot be known at once: it excuses for a moment after a machine was hurt, no longer.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use muster_apiserver::store::{Change, ChangeKind};
use muster_test_agents::Fleet;
use serde_json::Value;
use tokio::time::Instant;

use super::samples::{CLUSTER, Software};
use super::truth::{CLUSTERS, Lack, MEMBERS, Stored, Truth, resource, says};

/// How long nobody can know that a machine was hurt whose streams end: an event that is late, with some room.
const NOBODY_KNOWS: Duration = Duration::from_secs(4);
/// How many wrongs are kept: the first ones tell.
const ENOUGH: usize = 5;
/// What stops reconciliation: then `observedGeneration` may be lower after a restart.
const STOPPED: &str = "muster.dev/reconciliation-stopped";

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
    /// How much longer than usual nobody can know.
    slow: Duration,
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
        notes.stored.take(change);
        if is_our_cluster(change) {
            notes.cluster = Some(change.object.value());
        }
    }

    /// Something was stored.
    pub(crate) fn see(&self, change: &Change) {
        let mut notes = self.notes();
        notes.stored.take(change);
        notes.changes += 1;
        if is_our_cluster(change) {
            let now = (change.kind != ChangeKind::Deleted).then(|| change.object.value());
            let before = std::mem::replace(&mut notes.cluster, now);
            notes.judge_cluster(before.as_ref());
        } else if &**resource(change) == MEMBERS && change.kind != ChangeKind::Deleted {
            notes.judge_member(&change.object.value());
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

    /// A machine is hurt now, and for so long nobody notices that its streams are silent.
    pub(crate) fn hurt_silently(&self, silence: Duration) {
        let mut notes = self.notes();
        let until = Instant::now() + NOBODY_KNOWS + notes.slow + silence;
        notes.hurt = Some(notes.hurt.map_or(until, |before| before.max(until)));
    }

    /// For so much longer nobody can know.
    pub(crate) fn be_patient(&self, slow: Duration) {
        self.notes().slow = slow;
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

    /// Everything that is stored.
    pub(crate) fn stored<T>(&self, look: impl FnOnce(&Stored) -> T) -> T {
        look(&self.notes().stored)
    }
}

fn is_our_cluster(change: &Change) -> bool {
    &**resource(change) == CLUSTERS && change.key.name == CLUSTER
}

impl Notes {
    fn truth(&self) -> Truth<'_> {
        Truth { stored: &self.stored, fleet: &self.fleet, software: self.software }
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
        let ready = says(&now, "Ready", "True")
            && now["status"]["observedGeneration"] == now["metadata"]["generation"];
        if ready {
            let lacks = self.truth().lacks(&now);
            self.confirmed += 1;
            self.judge_ready("the cluster", &lacks);
        }
    }

    /// A Member says Ready only where its own part is so.
    fn judge_member(&mut self, member: &Value) {
        let ready = says(member, "Ready", "True")
            && member["status"]["observedGeneration"] == member["metadata"]["generation"];
        let parked = |cluster: &Value| {
            let pools = cluster["spec"]["pools"].as_array();
            pools.is_none_or(|pools| pools.iter().all(|pool| pool["threshold"]["nodes"] == 0))
        };
        let Some(cluster) = self.cluster.clone().filter(|it| ready && !parked(it)) else { return };
        let name = member["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let lacks = self.truth().lacks_of_member(&cluster, member);
        self.judge_ready(&name, &lacks);
    }

    fn judge_ready(&mut self, who: &str, lacks: &[Lack]) {
        let excused = self.hurt.is_some_and(|until| Instant::now() < until);
        let lacks: Vec<&str> =
            lacks.iter().filter(|it| !(it.of_machines && excused)).map(|it| it.what.as_str()).collect();
        if !lacks.is_empty() {
            self.wrong(format!("{who} was said to be Ready, and was not: {}", lacks.join("; ")));
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
        let stopped = now["metadata"]["annotations"][STOPPED] == "true";
        if observed(now) < observed(before) && !stopped {
            let (was, is) = (observed(before), observed(now));
            self.wrong(format!("observedGeneration went back from {was:?} to {is:?}"));
        }
        if observed(now) > now["metadata"]["generation"].as_i64() {
            self.wrong(format!("observedGeneration {:?} is of the future", observed(now)));
        }
    }
}
