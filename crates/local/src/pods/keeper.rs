//! One Pod: its task from the first start of its containers to their end.
//!
//! Whatever happens is an event: the Pod changed, a process ended, a probe answered, a time has come. After each the keeper takes
//! the next step that is due, and writes the status if it changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, ResourceExt as _};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::Around;
use super::containers::{Containers, Ending, Phase, grace};
use super::probes::Answer;
use super::sources::Sources;
use super::state::PodState;
use super::volumes;
use crate::control::bounded;

/// After how long what a Pod waits for is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often the `ConfigMap`s and Secrets of a running Pod are looked at: a new certificate arrives this soon.
const REFRESH: Duration = Duration::from_secs(15);
/// How many answers of probes may wait.
const MAX_ANSWERS: usize = 64;

/// What a keeper is told: the Pod as it is; that it is gone; that the node stops.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    Keep(Arc<Pod>),
    Gone,
    NodeStops,
}

/// Waits until the node stops.
pub(super) async fn node_stops(wishes: &mut watch::Receiver<Wish>) {
    drop(wishes.wait_for(|wish| matches!(wish, Wish::NodeStops)).await);
}

/// A Pod and its containers.
pub(super) struct Keeper {
    around: Arc<Around>,
    pod: Arc<Pod>,
    directory: PathBuf,
    address: String,
    began: Timestamp,
    places: BTreeMap<String, PathBuf>,
    sources: Option<Sources>,
    init: Containers,
    main: Containers,
    answers: mpsc::Sender<Answer>,
    heard: mpsc::Receiver<Answer>,
    ending: FuturesUnordered<Ending>,
    /// When the containers are killed, once they were told to end.
    killed_at: Option<Instant>,
    due: Instant,
    refreshed: Instant,
    written: Option<Value>,
}

impl Keeper {
    pub(super) fn new(around: Arc<Around>, pod: Arc<Pod>, address: String) -> Self {
        let directory = around.place.join(pod.uid().unwrap_or_default());
        let (answers, heard) = mpsc::channel(MAX_ANSWERS);
        let spec = pod.spec.clone().unwrap_or_default();
        let init = Containers::new(&pod, Phase::Init, spec.init_containers.unwrap_or_default());
        let main = Containers::new(&pod, Phase::Main, spec.containers);
        let now = Instant::now();
        let recalled = pod.status.as_ref().and_then(|status| status.start_time.as_ref());
        let began = recalled.map_or_else(Timestamp::now, |time| time.0);
        Self {
            around,
            directory,
            address,
            began,
            places: BTreeMap::new(),
            sources: None,
            init,
            main,
            answers,
            heard,
            ending: FuturesUnordered::new(),
            killed_at: None,
            due: now,
            refreshed: now,
            written: None,
            pod,
        }
    }

    /// Keeps the Pod until it is gone, or the node stops.
    pub(super) async fn keep(mut self, mut wishes: watch::Receiver<Wish>) {
        loop {
            let wish = wishes.borrow_and_update().clone();
            if let Wish::Keep(pod) = &wish {
                self.pod = Arc::clone(pod);
            }
            if self.step(&wish).await {
                break;
            }
            let next = self.next_time();
            tokio::select! {
                biased;
                changed = wishes.changed() => if changed.is_err() { break },
                Some((phase, index, ended)) = self.ending.next() => self.containers(phase).ended(index, &ended),
                Some(answer) = self.heard.recv() => self.main.heard(&answer),
                () = tokio::time::sleep_until(next) => {}
            }
        }
        self.kill_all();
        while let Some((phase, index, ended)) = self.ending.next().await {
            self.containers(phase).ended(index, &ended);
        }
        if matches!(*wishes.borrow(), Wish::NodeStops) {
            return;
        }
        // What the Pod had for itself goes with it.
        drop(tokio::fs::remove_dir_all(&self.directory).await);
    }

    /// Takes the next step; true when there is none any more.
    async fn step(&mut self, wish: &Wish) -> bool {
        let deleted = self.pod.metadata.deletion_timestamp.is_some();
        match wish {
            Wish::Gone => return true,
            Wish::NodeStops => {
                self.end();
                return self.nothing_runs();
            }
            Wish::Keep(_) if deleted => {
                self.end();
                self.report().await;
                return self.nothing_runs() && self.let_go().await;
            }
            Wish::Keep(_) => {}
        }
        if Instant::now() >= self.due {
            self.due = Instant::now() + LOOK_AGAIN;
            if self.prepare().await {
                self.start().await;
            }
        }
        self.report().await;
        false
    }

    fn next_time(&self) -> Instant {
        match self.killed_at {
            // Only the API server has to be told still; that may have failed.
            Some(at) if self.nothing_runs() => at.min(Instant::now() + LOOK_AGAIN),
            Some(at) => at,
            // What could not be refreshed is not asked for again at once.
            None if self.settled() => self.due.max(self.refreshed + REFRESH),
            None => self.due,
        }
    }

    /// Whether nothing is left to be started: all that runs runs, and what ended stays so.
    fn settled(&self) -> bool {
        self.sources.is_some() && self.init.done() && self.main.settled()
    }

    /// Gets what the Pod refers to, and makes its volumes; false when something is missing.
    async fn prepare(&mut self) -> bool {
        if self.sources.is_some() && self.refreshed.elapsed() < REFRESH {
            return true;
        }
        let directory_of = self.around.directory_of;
        let sources = match bounded(Sources::get(&self.around.client, &self.pod, directory_of)).await {
            Ok(sources) => sources,
            Err(error) => {
                self.wait("ContainerCreating", &format!("the API server does not answer: {error}"));
                return self.sources.is_some();
            }
        };
        let below = self.directory.join("volumes");
        match volumes::prepare(&self.pod, &self.address, &sources, &below) {
            Ok(places) => {
                volumes::give_group(&self.pod, &places);
                (self.places, self.sources) = (places, Some(sources));
                self.refreshed = Instant::now();
                true
            }
            Err(error) => {
                self.wait("ContainerCreating", &error.to_string());
                // What runs keeps what it was started with.
                self.refreshed = Instant::now();
                self.sources.is_some()
            }
        }
    }

    fn wait(&mut self, reason: &'static str, message: &str) {
        self.init.wait(reason, message);
        self.main.wait(reason, message);
    }

    /// Starts what is due: the first init container that has not done its work, or else all others.
    async fn start(&mut self) {
        let Some(sources) = self.sources.clone() else { return };
        let policy = self.pod.spec.as_ref().and_then(|spec| spec.restart_policy.clone()).unwrap_or_default();
        let phase = if self.init.done() { Phase::Main } else { Phase::Init };
        for index in self.containers(phase).due(&policy) {
            let container: Container = self.containers(phase).spec(index).clone();
            let directory = self.directory.join("containers").join(&container.name);
            let given = super::order::Given {
                pod: &self.pod,
                address: &self.address,
                sources: &sources,
                places: &self.places,
                directory: &directory,
                programs: &self.around.programs,
                isolation: self.around.isolation,
            };
            let order = given.order(&container);
            let (address, answers) = (self.address.clone(), self.answers.clone());
            let around = Arc::clone(&self.around);
            let started =
                self.containers(phase).start(index, order, &directory, &around, &address, answers).await;
            self.ending.extend(started);
        }
    }

    /// Tells the containers to end, and after their grace period makes them.
    fn end(&mut self) {
        let now = Instant::now();
        match self.killed_at {
            None => {
                self.killed_at = Some(now + grace(&self.pod));
                self.init.signal(Signal::TERM);
                self.main.signal(Signal::TERM);
            }
            Some(at) if at <= now => {
                self.kill_all();
                self.killed_at = Some(now + LOOK_AGAIN);
            }
            Some(_) => {}
        }
    }

    fn kill_all(&mut self) {
        self.init.signal(Signal::KILL);
        self.main.signal(Signal::KILL);
    }

    fn nothing_runs(&self) -> bool {
        !self.init.any_runs() && !self.main.any_runs()
    }

    /// Says to the API server that the Pod has ended; true when it need not be said again.
    async fn let_go(&mut self) -> bool {
        let preconditions = Some(Preconditions { uid: self.pod.uid(), ..Preconditions::default() });
        let params = DeleteParams { grace_period_seconds: Some(0), preconditions, ..DeleteParams::default() };
        match bounded(self.api().delete(&self.pod.name_any(), &params)).await {
            Ok(_) => true,
            Err(error) if matches!(error.code(), Some(404 | 409)) => true,
            Err(error) => {
                tracing::warn!(pod = %self.pod.name_any(), %error, "a Pod that ended cannot be removed yet");
                false
            }
        }
    }

    async fn report(&mut self) {
        let state = PodState {
            address: self.address.clone(),
            began: self.began,
            initialised: self.init.done(),
            init: self.init.states(),
            containers: self.main.states(),
        };
        let status = state.status(&self.pod);
        if self.written.as_ref() == Some(&status) {
            return;
        }
        let (name, patch) =
            (self.pod.name_any(), json!({"metadata": {"uid": self.pod.uid()}, "status": status}));
        let params = PatchParams::default();
        match bounded(self.api().patch_status(&name, &params, &Patch::Merge(&patch))).await {
            Ok(_) => self.written = Some(status),
            Err(error) if matches!(error.code(), Some(404 | 409)) => self.written = Some(status),
            Err(error) => tracing::warn!(pod = %name, %error, "the status of a Pod cannot be written yet"),
        }
    }

    fn api(&self) -> Api<Pod> {
        Api::namespaced(self.around.client.clone(), &self.pod.namespace().unwrap_or_default())
    }

    fn containers(&mut self, phase: Phase) -> &mut Containers {
        match phase {
            Phase::Init => &mut self.init,
            Phase::Main => &mut self.main,
        }
    }
}
