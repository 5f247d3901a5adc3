//! A fleet of simulated agents: how it is made, reached and looked at.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use jiff::Timestamp;
use muster_core::manager::roster::Copies;
use muster_protocol::Measured;
use muster_test_model::{Node, Nodes, Quirks};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::faults::Faults;
use crate::pace::Pace;
use crate::state::{Due, Key, Kind, State};
use crate::{answer, driver};

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Simulated agents. Cloning gives another handle to the same ones.
#[derive(Clone)]
pub struct Fleet(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    state: Mutex<State>,
    /// Something new is due.
    pub(crate) woken: Arc<Notify>,
    /// Moves when a run began or ended, or readiness changed.
    lives: watch::Sender<u64>,
    driver: Mutex<Option<JoinHandle<()>>>,
    /// Who is told when what members do has changed.
    listener: Mutex<Option<Listener>>,
}

/// Who is told when what members do has changed.
type Listener = Arc<dyn Fn() + Send + Sync>;

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            driver.abort();
        }
    }
}

impl Inner {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, then lets everyone know who has to.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let result = change(&mut state);
        self.settle(state);
        self.woken.notify_one();
        result
    }

    /// After any change.
    pub(crate) fn settle(&self, mut state: MutexGuard<'_, State>) {
        state.settle();
        let (lived, news) = (!state.lives.is_empty(), std::mem::take(&mut state.news));
        drop(state);
        if lived {
            self.lives.send_modify(|lives| *lives += 1);
        }
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(listener) = listener.filter(|_| news) {
            listener();
        }
    }
}

impl Fleet {
    /// An empty fleet whose chance comes from this seed. To be made within a runtime.
    pub fn new(seed: u64) -> Self {
        Self::with_pace(seed, Pace::default())
    }

    /// The same, where things take as long as this.
    pub fn with_pace(seed: u64, pace: Pace) -> Self {
        let woken = Arc::new(Notify::new());
        let inner = Arc::new(Inner {
            state: Mutex::new(State::new(seed, pace)),
            woken: Arc::clone(&woken),
            lives: watch::channel(0).0,
            driver: Mutex::new(None),
            listener: Mutex::new(None),
        });
        let driver = tokio::spawn(driver::drive(Arc::downgrade(&inner), woken));
        *inner.driver.lock().unwrap_or_else(PoisonError::into_inner) = Some(driver);
        Self(inner)
    }

    /// What reaches the agents in process: the operator's `Dial`. It finds a member by the host in the request, which is
    /// its name, its Pod's name in DNS, or its Pod's address.
    pub fn dial(
        &self,
    ) -> impl Fn(Request<Full<Bytes>>) -> BoxFuture<'static, io::Result<Response<Body>>>
    + Clone
    + Send
    + Sync
    + 'static {
        let fleet = Arc::downgrade(&self.0);
        move |request| Box::pin(answer::send(Weak::clone(&fleet), request))
    }

    /// How this cluster's software replicates; to be said before it runs.
    pub fn configure(&self, namespace: &str, cluster: &str, kind: Kind, copies: Copies) {
        self.0.change(|state| {
            let cluster = state.ensure_cluster(namespace, cluster);
            (cluster.kind, cluster.copies) = (kind, copies);
        });
    }

    /// Makes a member known, off and on an empty volume. One that is known stays as it is.
    pub fn add(&self, namespace: &str, cluster: &str, member: &str) {
        self.0.change(|state| state.ensure_member(namespace, cluster, member));
    }

    /// Tells this listener from now on, each time that what a member does, or whether it is heard, has changed. It may look
    /// at the fleet, and not change it.
    pub fn on_news(&self, listener: impl Fn() + Send + Sync + 'static) {
        *self.0.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listener));
    }

    /// What goes wrong with requests from now on.
    pub fn set_faults(&self, faults: Arc<dyn Faults>) {
        self.0.state().faults = faults;
    }

    /// What does not work on this member.
    pub fn set_quirks(&self, namespace: &str, member: &str, quirks: Quirks) {
        self.with(namespace, member, |node| node.quirks = quirks);
    }

    /// Changes what this member measures.
    pub fn measure(&self, namespace: &str, member: &str, change: impl FnOnce(&mut Measured)) {
        self.0.change(|state| {
            if let Some(extra) = state.members.get_mut(&key(namespace, member)) {
                change(&mut extra.measured);
                extra.news.send_modify(|news| *news += 1);
            }
        });
    }

    /// Looks at a member, or changes it behind its agent's back. None: there is no such member.
    pub fn with<T>(&self, namespace: &str, member: &str, look: impl FnOnce(&mut Node) -> T) -> Option<T> {
        self.0.change(|state| state.node(&key(namespace, member)).map(look))
    }

    /// Looks at all members of a cluster at once. None: there is no such cluster.
    pub fn look<T>(&self, namespace: &str, cluster: &str, look: impl FnOnce(&Nodes) -> T) -> Option<T> {
        self.0.state().clusters.get(&key(namespace, cluster)).map(|cluster| look(&cluster.nodes))
    }

    /// The names of a cluster's members, running or not.
    pub fn members(&self, namespace: &str, cluster: &str) -> Vec<String> {
        let state = self.0.state();
        let cluster = state.clusters.get(&key(namespace, cluster));
        cluster.map(|cluster| cluster.nodes.keys().cloned().collect()).unwrap_or_default()
    }

    /// The members that take writes.
    pub fn serving(&self, namespace: &str, cluster: &str) -> Vec<String> {
        let state = self.0.state();
        let nodes = state.clusters.get(&key(namespace, cluster)).map(|cluster| &cluster.nodes);
        let serves = |node: &&Node| node.app().is_some_and(|app| app.serving);
        nodes
            .into_iter()
            .flat_map(|nodes| nodes.values())
            .filter(serves)
            .map(|node| node.name.clone())
            .collect()
    }

    /// A client writes to whoever serves; gives the number of the write.
    pub fn write(&self, namespace: &str, cluster: &str) -> Option<u64> {
        self.0.change(|state| state.write(&key(namespace, cluster)))
    }

    /// Clients write again and again, as long as the fleet lives.
    pub fn write_every(&self, namespace: &str, cluster: &str, period: Duration) {
        self.0.change(|state| {
            state.schedule(Instant::now() + period, Due::Write(key(namespace, cluster), period));
        });
    }

    /// The writes whose clients have their answer.
    pub fn acknowledged(&self, namespace: &str, cluster: &str) -> Vec<u64> {
        let state = self.0.state();
        let cluster = state.clusters.get(&key(namespace, cluster));
        cluster.map(|cluster| cluster.acknowledged.iter().copied().collect()).unwrap_or_default()
    }

    /// A person said that writes of this cluster may be lost.
    pub fn accept_loss(&self, namespace: &str, cluster: &str, accepted: bool) {
        self.0.change(|state| state.ensure_cluster(namespace, cluster).loss_accepted = accepted);
    }

    /// Moves when a run began or ended, or readiness changed: then it is asked [whose](Self::changed_lives).
    pub fn lives(&self) -> watch::Receiver<u64> {
        self.0.lives.subscribe()
    }

    /// The members, with their namespaces, of whom that is true since this was asked last.
    pub fn changed_lives(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.0.state().lives).into_iter().collect()
    }

    /// The time of day in the fleet.
    pub fn now(&self) -> Timestamp {
        self.0.state().now()
    }

    /// Says what time of day it is.
    pub fn set_time(&self, now: Timestamp) {
        self.0.state().began = (now, Instant::now());
    }

    /// What happened that never may. A test asks at its end.
    pub fn violations(&self) -> Vec<String> {
        self.0.state().violations.clone()
    }
}

pub(crate) fn key(namespace: &str, name: &str) -> Key {
    (namespace.to_owned(), name.to_owned())
}
