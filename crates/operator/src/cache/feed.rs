//! Keeps a store as the API server tells it, and hands on what changed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::Api;
use kube::runtime::WatchStreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event, watcher};
use muster_api::names::LABEL_CLUSTER;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::Instant;

use super::Caches;
use super::asked::Answer;
use super::kinds::Cached;
use super::store::Change;
use crate::key::Name;

/// How long one watch lasts before everything is told anew. An event that was lost on its way, which no protocol
/// promises away, is made up for by then; a longer time costs nothing but that.
pub(super) const RELIST: Duration = Duration::from_secs(30 * 60);

/// The pause before a watch that broke off is opened again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(800);
/// The longest pause: so long the caches may be behind an API server that has returned.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The pauses between tries, spread by chance so that the watches of many kinds do not all return at once.
struct Pauses {
    next: Duration,
    chance: StdRng,
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST_PAUSE);
        Some(whole.mul_f64(self.chance.random_range(0.5..=1.0)))
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.next = FIRST_PAUSE;
    }
}

/// Keeps the store of one kind, for ever. `chance` spreads the tries to watch.
pub(super) async fn feed<K: Cached>(
    api: Api<K>,
    caches: Arc<Caches>,
    chance: u64,
    changed: impl Fn(&Change<K>),
) {
    let mut config = watcher::Config::default().streaming_lists();
    if K::LABELLED {
        config = config.labels(LABEL_CLUSTER);
    }
    loop {
        let until = Instant::now() + RELIST;
        let pauses = Pauses { next: FIRST_PAUSE, chance: StdRng::seed_from_u64(chance) };
        let events = watcher(api.clone(), config.clone()).backoff(pauses);
        let events = events.inspect_err(|error| {
            tracing::warn!(kind = %K::kind(&()), %error, "a watch broke off and is opened again");
        });
        let mut events = std::pin::pin!(events);
        let mut told = None;
        let store = K::store(&caches);
        loop {
            let taken_in = tokio::select! {
                biased;
                () = store.asked.came() => take_answers(store),
                event = tokio::time::timeout_at(until, events.next()) => match event {
                    Ok(Some(Ok(event))) => take(store, event, &mut told),
                    Ok(Some(Err(_))) => continue,
                    Ok(None) | Err(_) => break,
                },
            };
            taken_in.iter().for_each(&changed);
        }
    }
}

/// Takes in an event; `told` are the names that were told since all are told anew.
fn take<K: Cached>(
    store: &super::Store<K>,
    event: Event<K>,
    told: &mut Option<HashSet<Name>>,
) -> Vec<Change<K>> {
    match event {
        Event::Init => {
            *told = Some(HashSet::new());
            Vec::new()
        }
        Event::InitApply(object) => {
            told.get_or_insert_default().insert(Name::of(&object));
            store.put(slim(object)).into_iter().collect()
        }
        Event::InitDone => told.take().map(|told| keep_only(store, &told)).unwrap_or_default(),
        // What was read by name may be ahead of the watch.
        Event::Apply(object) if store.knows_later(&object) => Vec::new(),
        Event::Apply(object) => store.put(slim(object)).into_iter().collect(),
        Event::Delete(object) => {
            let name = Name::of(&object);
            store.asked.retain(|asked| *asked != name);
            store.remove(&name).into_iter().collect()
        }
    }
}

fn keep_only<K: Cached>(store: &super::Store<K>, told: &HashSet<Name>) -> Vec<Change<K>> {
    store.asked.retain(|asked| told.contains(asked));
    store.keep_only(told)
}

/// Takes in what was read by name, where the watch has not told something later.
fn take_answers<K: Cached>(store: &super::Store<K>) -> Vec<Change<K>> {
    let answers = store.asked.take().into_iter();
    let changes = answers.filter_map(|(name, answer)| match answer {
        Answer::Is(object) if store.knows_later(&object) => None,
        Answer::Is(object) => store.put(slim(*object)),
        Answer::Gone(uid) => {
            let same = store.get(&name).is_some_and(|known| known.meta().uid == uid);
            same.then(|| store.remove(&name)).flatten()
        }
    });
    changes.collect()
}

/// Leaves away what nobody looks at: an annotation that repeats the whole object.
fn slim<K: Cached>(mut object: K) -> K {
    // One that has none keeps none: what is written depends on whether there are any.
    if let Some(annotations) = &mut object.meta_mut().annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    object
}
