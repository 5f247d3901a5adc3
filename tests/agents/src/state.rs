//! All that is known of a fleet: clusters, their members, and what comes next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use muster_core::manager::report::{Instance, Report};
use muster_core::manager::roster::Copies;
use muster_protocol::{Line, Measured, Storage};
use muster_test_model::{Node, Nodes, Volume};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::faults::{Faults, NoFaults};
use crate::oracle::Obeyed;
use crate::pace::Pace;

/// What a member can store unless a test says otherwise.
const CAPACITY: u64 = 10 << 30;
/// The time of day when a fleet begins: 2026-01-01.
const BEGAN: SignedDuration = SignedDuration::from_secs(1_767_225_600);

/// How the software of a cluster replicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One member takes writes, the others copy them.
    #[default]
    OnePrimary,
    /// Every member takes writes, all of them in one order.
    ManyPrimaries,
    /// The members elect by themselves who takes writes.
    SelfElecting,
}

/// A member: its namespace and its name.
pub(crate) type Key = (String, String);

/// What comes next, and whom it is about. The run guards against a restart in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A starting agent knows that nothing of an earlier run lives.
    Looked(Key, Instance),
    /// A primary begins to serve.
    Serve(Key, Instance),
    /// A follower copies what is new.
    Copy(Key, Instance),
    /// Clients of this cluster write.
    Write(Key, std::time::Duration),
}

/// A cluster of a fleet.
pub(crate) struct Cluster {
    pub(crate) kind: Kind,
    pub(crate) copies: Copies,
    pub(crate) nodes: Nodes,
    /// The writes whose clients have their answer.
    pub(crate) acknowledged: BTreeSet<u64>,
    /// Someone said that writes may be lost.
    pub(crate) loss_accepted: bool,
}

/// What a member has besides what the model knows.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a machine")]
pub(crate) struct Extra {
    pub(crate) cluster: String,
    pub(crate) pod_uid: Option<String>,
    /// When the present run began.
    pub(crate) started: Timestamp,
    /// Moves when there is something new to say.
    pub(crate) news: watch::Sender<u64>,
    /// Moves when what moves all the time has moved.
    pub(crate) drift: watch::Sender<u64>,
    /// How far the data was when that was last looked at.
    pub(crate) reached: u64,
    /// What was said last, apart from what moves all the time.
    pub(crate) said: Option<Report>,
    /// The run and its readiness, as the kubelet was told of them.
    pub(crate) lived: (Option<Instance>, bool),
    pub(crate) measured: Measured,
    /// No message comes through, in either direction.
    pub(crate) isolated: bool,
    /// Copies to it stand still.
    pub(crate) stalled: bool,
    /// The machine is off: nobody refuses a connection.
    pub(crate) dark: bool,
    /// The runs that ended without a word: their streams go silent instead of ending.
    pub(crate) dark_runs: BTreeSet<Instance>,
    /// How often its streams were cut.
    pub(crate) cuts: u64,
    pub(crate) copy_due: bool,
    pub(crate) serve_due: bool,
    /// Counts where it is to be found, beside its names.
    pub(crate) ip: Option<String>,
}

impl Extra {
    pub(crate) fn new(cluster: &str) -> Self {
        let storage = Some(Storage { capacity: CAPACITY, free: CAPACITY / 2 });
        Self {
            cluster: cluster.to_owned(),
            pod_uid: None,
            started: Timestamp::UNIX_EPOCH,
            news: watch::channel(0).0,
            drift: watch::channel(0).0,
            reached: 0,
            said: None,
            lived: (None, false),
            measured: Measured { storage, ..Measured::default() },
            isolated: false,
            stalled: false,
            dark: false,
            dark_runs: BTreeSet::new(),
            cuts: 0,
            copy_due: false,
            serve_due: false,
            ip: None,
        }
    }
}

/// The fleet.
pub(crate) struct State {
    pub(crate) chance: StdRng,
    pub(crate) pace: Pace,
    pub(crate) clusters: BTreeMap<Key, Cluster>,
    pub(crate) members: BTreeMap<Key, Extra>,
    pub(crate) due: BTreeMap<(Instant, u64), Due>,
    pub(crate) faults: Arc<dyn Faults>,
    pub(crate) violations: Vec<String>,
    /// What agents were told and did, to hold what comes later against it.
    pub(crate) obeyed: Obeyed,
    /// The clusters in which something may have changed.
    pub(crate) touched: BTreeSet<Key>,
    pub(crate) requests: u64,
    /// Runs that began or ended, and readiness that changed, since someone asked.
    pub(crate) lives: BTreeSet<Key>,
    /// Whether what a member does, or whether it is heard, has changed since someone was told.
    pub(crate) news: bool,
    /// Who is found at which address.
    pub(crate) addresses: BTreeMap<String, Key>,
    /// The time of day when the fleet was made, and when that was.
    pub(crate) began: (Timestamp, Instant),
    writes: u64,
    given: u64,
}

impl State {
    pub(crate) fn new(seed: u64, pace: Pace) -> Self {
        Self {
            chance: StdRng::seed_from_u64(seed),
            pace,
            clusters: BTreeMap::new(),
            members: BTreeMap::new(),
            due: BTreeMap::new(),
            faults: Arc::new(NoFaults),
            violations: Vec::new(),
            obeyed: Obeyed::default(),
            touched: BTreeSet::new(),
            requests: 0,
            lives: BTreeSet::new(),
            news: false,
            addresses: BTreeMap::new(),
            began: (Timestamp::UNIX_EPOCH + BEGAN, Instant::now()),
            writes: 0,
            given: 0,
        }
    }

    /// How many writes there were, and how many numbers were given.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (self.writes, self.given)
    }

    /// Goes on counting from there.
    pub(crate) fn count_from(&mut self, counted: (u64, u64)) {
        (self.writes, self.given) = counted;
    }

    /// The time of day.
    pub(crate) fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.began.1.elapsed()).unwrap_or_default();
        self.began.0.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// A member is found at this address from now on, beside its names.
    pub(crate) fn move_to(&mut self, key: &Key, ip: Option<String>) {
        let Some(extra) = self.members.get_mut(key) else { return };
        let old = std::mem::replace(&mut extra.ip, ip.clone());
        if let Some(old) = old.filter(|old| self.addresses.get(old) == Some(key)) {
            self.addresses.remove(&old);
        }
        if let Some(ip) = ip {
            self.addresses.insert(ip, key.clone());
        }
    }

    /// A number that was never given before.
    pub(crate) fn fresh(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// A name that was never given before, for volumes and histories.
    pub(crate) fn name(&mut self) -> String {
        let (high, low) = (self.chance.random::<u32>(), self.fresh());
        format!("{high:08x}-0000-4000-8000-{low:012x}")
    }

    pub(crate) fn next_write(&mut self) -> u64 {
        self.writes += 1;
        self.writes
    }

    pub(crate) fn schedule(&mut self, at: Instant, due: Due) {
        let order = self.fresh();
        self.due.insert((at, order), due);
    }

    /// The cluster of a member, to look at.
    pub(crate) fn home(&self, key: &Key) -> Option<&Cluster> {
        let cluster = self.members.get(key)?.cluster.clone();
        self.clusters.get(&(key.0.clone(), cluster))
    }

    /// The cluster of a member, to change.
    pub(crate) fn cluster_of(&mut self, key: &Key) -> Option<&mut Cluster> {
        let cluster = (key.0.clone(), self.members.get(key)?.cluster.clone());
        self.touched.insert(cluster.clone());
        self.clusters.get_mut(&cluster)
    }

    /// What a member has besides what the model knows, to change.
    pub(crate) fn extra(&mut self, key: &Key) -> Option<&mut Extra> {
        let extra = self.members.get_mut(key)?;
        self.touched.insert((key.0.clone(), extra.cluster.clone()));
        Some(extra)
    }

    /// A member, to look at.
    pub(crate) fn peek(&self, key: &Key) -> Option<&Node> {
        self.home(key)?.nodes.get(&key.1)
    }

    /// A member, to change.
    pub(crate) fn node(&mut self, key: &Key) -> Option<&mut Node> {
        self.cluster_of(key)?.nodes.get_mut(&key.1)
    }

    /// The run of a member's agent.
    pub(crate) fn run(&self, key: &Key) -> Option<Instance> {
        Some(self.peek(key)?.agent.as_ref()?.instance)
    }

    /// What a member's agent says now; None when there is none.
    pub(crate) fn line(&mut self, key: &Key, round: u64) -> Option<Line> {
        let cluster = (key.0.clone(), self.members.get(key)?.cluster.clone());
        let report = self.clusters.get_mut(&cluster)?.nodes.get_mut(&key.1)?.report(round)?;
        let extra = self.members.get(key)?;
        Some(Line {
            cluster: extra.cluster.clone(),
            member: key.1.clone(),
            pod_uid: extra.pod_uid.clone(),
            started: Some(extra.started),
            report,
            measured: extra.measured.clone(),
        })
    }

    /// Makes this cluster known, if it is not.
    pub(crate) fn ensure_cluster(&mut self, namespace: &str, name: &str) -> &mut Cluster {
        let key = (namespace.to_owned(), name.to_owned());
        self.touched.insert(key.clone());
        self.clusters.entry(key).or_insert_with(|| Cluster {
            kind: Kind::default(),
            copies: Copies::Majority,
            nodes: Nodes::new(),
            acknowledged: BTreeSet::new(),
            loss_accepted: false,
        })
    }

    /// Makes this member known, off and on an empty volume, if it is not.
    pub(crate) fn ensure_member(&mut self, namespace: &str, cluster: &str, member: &str) -> Key {
        let key = (namespace.to_owned(), member.to_owned());
        if !self.members.contains_key(&key) {
            let volume = Volume::new(self.name());
            let nodes = &mut self.ensure_cluster(namespace, cluster).nodes;
            nodes.insert(member.to_owned(), Node::new(member, volume));
            self.members.insert(key.clone(), Extra::new(cluster));
        }
        key
    }
}
