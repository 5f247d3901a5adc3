//! The one task: what was seen is looked at after a while, and what fails is tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::StreamExt;
use kube::Client;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::watch;
use tokio::time::Instant;

use super::pods::Running;
use super::seen::{Id, Kind, Seen, watch_all};
use super::{Knobs, Part};
use crate::Fleet;
use crate::pace::{after, until};
use crate::state::Key;

/// After how long what failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// All that the task knows.
pub(super) struct Work {
    pub(super) client: Client,
    pub(super) fleet: Fleet,
    pub(super) seen: Seen,
    /// What runs in each Pod, by namespace and Pod.
    pub(super) running: BTreeMap<Key, Running>,
    /// The claim on which each member ran last: another one is another volume.
    pub(super) volumes: BTreeMap<Key, String>,
    pub(super) addresses: u32,
    pub(super) collects: bool,
    knobs: watch::Receiver<Knobs>,
    chance: StdRng,
    due: BTreeMap<(Instant, u64), Id>,
    waiting: BTreeSet<Id>,
    order: u64,
}

/// Why something has to be looked at again.
pub(super) enum Again {
    /// It failed.
    Failed(kube::Error),
    /// It takes until then.
    At(Instant),
}

impl From<kube::Error> for Again {
    fn from(error: kube::Error) -> Self {
        Self::Failed(error)
    }
}

pub(super) async fn run(client: Client, fleet: Fleet, knobs: watch::Receiver<Knobs>, seed: u64, part: Part) {
    let mut events = watch_all(&client, &part);
    let (mut lives, mut turned) = (fleet.lives(), knobs.clone());
    let mut work = Work {
        client,
        fleet,
        seen: Seen::default(),
        running: BTreeMap::new(),
        volumes: BTreeMap::new(),
        addresses: 0,
        collects: part.collects,
        knobs,
        chance: StdRng::seed_from_u64(seed),
        due: BTreeMap::new(),
        waiting: BTreeSet::new(),
        order: 0,
    };
    loop {
        let next = work.due.keys().next().map_or_else(far_away, |(at, _)| *at);
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some((kind, Ok(event))) => work.take(kind, event),
                // The watcher opens its watch anew; how soon is ours to say.
                Some((_, Err(_))) => until(Instant::now() + RETRY).await,
                None => return,
            },
            changed = lives.changed() => {
                if changed.is_err() {
                    return;
                }
                work.notice_lives();
            }
            changed = turned.changed() => {
                if changed.is_err() {
                    return;
                }
                for id in work.seen.all() {
                    work.soon(id);
                }
            }
            () = until(next) => work.look().await,
        }
    }
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(86_400)
}

impl Work {
    pub(super) fn knobs(&self) -> Knobs {
        self.knobs.borrow().clone()
    }

    /// The time of day, as Kubernetes writes it.
    pub(super) fn now(&self) -> String {
        let now = self.fleet.now();
        jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
    }

    fn take(&mut self, kind: Kind, event: kube::runtime::watcher::Event<kube::api::DynamicObject>) {
        for key in self.seen.take(kind, event) {
            self.soon((kind, key.clone()));
            self.soon_around(kind, &key);
        }
    }

    /// Who else has to look when this has changed: a Pod's StatefulSet, a claim's Pod.
    fn soon_around(&mut self, kind: Kind, (namespace, name): &Key) {
        let of = |name: &str| (namespace.clone(), name.to_owned());
        match kind {
            Kind::Pod => {
                if let Some(set) = name.strip_suffix("-0") {
                    self.soon((Kind::StatefulSet, of(set)));
                }
            }
            Kind::Claim => {
                if let Some(member) = name.strip_prefix("data-") {
                    self.soon((Kind::Pod, of(&format!("{member}-0"))));
                }
            }
            Kind::StatefulSet | Kind::Deployment | Kind::DaemonSet => {}
        }
    }

    fn notice_lives(&mut self) {
        for (namespace, member) in self.fleet.changed_lives() {
            self.soon((Kind::Pod, (namespace, format!("{member}-0"))));
        }
    }

    fn soon(&mut self, id: Id) {
        let at = after(self.knobs().delay, &mut self.chance);
        self.later(id, at);
    }

    fn later(&mut self, id: Id, at: Instant) {
        if self.waiting.insert(id.clone()) {
            self.order += 1;
            self.due.insert((at, self.order), id);
        }
    }

    /// Looks at what has waited longest.
    async fn look(&mut self) {
        let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= Instant::now()) else {
            return;
        };
        let (kind, key) = entry.remove();
        self.waiting.remove(&(kind, key.clone()));
        if self.knobs().stopped {
            self.later((kind, key), Instant::now() + RETRY);
            return;
        }
        let done = match kind {
            Kind::StatefulSet => self.keep_set(&key).await,
            Kind::Pod => self.keep_pod(&key).await,
            Kind::Claim => self.keep_claim(&key).await,
            Kind::Deployment => self.keep_deployment(&key).await,
            Kind::DaemonSet => self.keep_daemon_set(&key).await,
        };
        match done {
            Ok(()) => {}
            Err(Again::At(at)) => self.later((kind, key), at),
            Err(Again::Failed(error)) => self.after_error((kind, key), &error),
        }
    }

    /// What is gone, or there already, is seen soon; the rest is tried again.
    fn after_error(&mut self, id: Id, error: &kube::Error) {
        let settled = matches!(error, kube::Error::Api(status) if status.code == 404);
        if !settled {
            self.later(id, Instant::now() + RETRY);
        }
    }
}
