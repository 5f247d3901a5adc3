//! Keeps a store as the API server tells it, and hands on what changed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use muster_api::names::LABEL_CLUSTER;
use tokio::time::Instant;

use super::Caches;
use super::kinds::Cached;
use super::store::Change;
use crate::key::Name;

/// How long one watch lasts before everything is told anew. An event that was lost on its way, which no protocol
/// promises away, is made up for by then; a longer time costs nothing but that.
pub(super) const RELIST: Duration = Duration::from_secs(30 * 60);

/// Keeps the store of one kind, for ever.
pub(super) async fn feed<K: Cached>(api: Api<K>, caches: Arc<Caches>, changed: impl Fn(&Change<K>)) {
    let mut config = watcher::Config::default().streaming_lists();
    if K::LABELLED {
        config = config.labels(LABEL_CLUSTER);
    }
    loop {
        let until = Instant::now() + RELIST;
        let events = watcher(api.clone(), config.clone()).default_backoff();
        let events = events.inspect_err(|error| {
            tracing::warn!(kind = %K::kind(&()), %error, "a watch broke off and is opened again");
        });
        let mut events = std::pin::pin!(events);
        let mut told = None;
        while let Ok(Some(event)) = tokio::time::timeout_at(until, events.next()).await {
            let Ok(event) = event else { continue };
            for change in take(K::store(&caches), event, &mut told) {
                changed(&change);
            }
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
        Event::InitDone => told.take().map(|told| store.keep_only(&told)).unwrap_or_default(),
        Event::Apply(object) => store.put(slim(object)).into_iter().collect(),
        Event::Delete(object) => store.remove(&Name::of(&object)).into_iter().collect(),
    }
}

/// Leaves away what nobody looks at: an annotation that repeats the whole object.
fn slim<K: Cached>(mut object: K) -> K {
    object.annotations_mut().remove("kubectl.kubernetes.io/last-applied-configuration");
    object
}
