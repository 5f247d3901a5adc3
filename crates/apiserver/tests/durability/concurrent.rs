//! Many at once: compare-and-swap is linearizable, and every watch sees the one order, without a gap or a duplicate.

use std::collections::BTreeMap;
use std::time::Duration;

use muster_apiserver::store::{ChangeKind, Expect, FIRST_REVISION, Revision, Scope, Store, WriteError};
use muster_apiserver::watch::{EventKind, Selection, Start, Watch, WatchOptions};
use serde_json::{Value, json};

use crate::{TestDirectory, everything, key};

const WRITERS: usize = 12;
const WRITES: usize = 150;
const KEYS: usize = 4;
const WATCHERS: usize = 6;

/// A write that happened, and what its writer knew.
#[derive(Clone, Debug)]
struct Done {
    name: String,
    /// The newest revision before it was begun.
    before: Revision,
    revision: Revision,
    /// The count that was written; none when it was removed.
    count: Option<u64>,
}

/// Counts up the counters, each by reading, then writing upon what was read; now and then one is removed.
async fn writer(store: Store, number: usize) -> Vec<Done> {
    let mut done = Vec::new();
    let mut turn = number;
    while done.len() < WRITES {
        turn += 1;
        let name = format!("k{}", turn % KEYS);
        let before = store.revision();
        let found = store.get(&key(&name));
        let count = found.as_ref().map_or(0, |stored| stored.object.value()["count"].as_u64().unwrap());
        let expect = found.as_ref().map_or(Expect::Absent, |stored| Expect::At(stored.revision));
        let removes = found.is_some() && turn.is_multiple_of(17);
        let object = json!({"metadata": {"name": name}, "count": count + 1});
        let result = match expect {
            Expect::At(at) if removes => store.remove(&key(&name), object, at).await,
            _ => store.put(key(&name), object, expect).await,
        };
        match result {
            Ok(stored) => {
                assert!(store.revision() >= stored.revision, "an acknowledged write is seen");
                let count = (!removes).then_some(count + 1);
                done.push(Done { name, before, revision: stored.revision, count });
            }
            Err(WriteError::Changed | WriteError::Exists | WriteError::Gone) => {
                tokio::task::yield_now().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
    done
}

/// Watches from the beginning until this revision, beginning anew where it stopped after every few events.
async fn watcher(store: Store, until: Revision, resumes_after: usize) -> Vec<(Revision, EventKind, Value)> {
    let mut seen = Vec::new();
    let mut from = FIRST_REVISION;
    while from < until {
        let options = WatchOptions {
            scope: Scope { namespace: Some("ns".to_owned()), ..everything() },
            selection: Selection::default(),
            from: Start::After(from),
            since: None,
            bookmarks: false,
            lasts: Duration::from_secs(60),
            type_meta: ("example.org/v1".to_owned(), "Thing".to_owned()),
        };
        let mut watch = Watch::new(&store, options).unwrap();
        for _ in 0..resumes_after {
            if from >= until {
                break;
            }
            let event = watch.next().await.unwrap();
            let object = event.object.value();
            from = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
            seen.push((from, event.kind, object));
        }
    }
    seen
}

fn crowd(store: &Store) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    let last = FIRST_REVISION + (WRITERS * WRITES) as u64;
    let (done, seen) = runtime.block_on(async {
        let writers: Vec<_> =
            (0..WRITERS).map(|number| tokio::spawn(writer(store.clone(), number))).collect();
        let watchers: Vec<_> =
            (0..WATCHERS).map(|number| tokio::spawn(watcher(store.clone(), last, 1 + number * 40))).collect();
        let mut done = Vec::new();
        for writer in writers {
            done.extend(writer.await.unwrap());
        }
        let mut seen = Vec::new();
        for watcher in watchers {
            seen.push(watcher.await.unwrap());
        }
        (done, seen)
    });
    assert_eq!(store.revision(), last, "what was refused moved nothing");
    check_order(store, &done);
    let (changes, _) = store.changes_after(&everything(), FIRST_REVISION).unwrap();
    for events in seen {
        assert_eq!(events.len(), changes.len(), "without a gap or a duplicate");
        for (change, (revision, kind, object)) in changes.iter().zip(events) {
            let expected = match change.kind {
                ChangeKind::Added => EventKind::Added,
                ChangeKind::Modified => EventKind::Modified,
                ChangeKind::Deleted => EventKind::Deleted,
            };
            assert_eq!((change.revision, expected, change.object.value()), (revision, kind, object));
        }
    }
}

/// The history is one order in which every write found what it expected, and which every writer agrees with.
fn check_order(store: &Store, done: &[Done]) {
    let by_revision: BTreeMap<Revision, &Done> = done.iter().map(|done| (done.revision, done)).collect();
    assert_eq!(by_revision.len(), done.len(), "no revision was given twice");
    let (changes, _) = store.changes_after(&everything(), FIRST_REVISION).unwrap();
    assert_eq!(changes.len(), done.len());
    let mut counters: BTreeMap<String, (Revision, u64)> = BTreeMap::new();
    let mut expected = FIRST_REVISION;
    for change in &changes {
        expected += 1;
        assert_eq!(change.revision, expected, "in order, without a gap");
        let acknowledged = by_revision[&change.revision];
        assert_eq!(acknowledged.name, change.key.name);
        assert!(acknowledged.before < change.revision, "it did not happen before it was begun");
        let found = counters.get(&change.key.name).copied();
        assert_eq!(
            change.previous.as_ref().map(|stored| stored.revision),
            found.map(|(revision, _)| revision)
        );
        match acknowledged.count {
            Some(count) => {
                assert_eq!(count, found.map_or(0, |(_, count)| count) + 1, "nothing was written over");
                assert_eq!(change.object.value()["count"], count);
                counters.insert(change.key.name.clone(), (change.revision, count));
            }
            None => assert!(counters.remove(&change.key.name).is_some()),
        }
    }
    let now: BTreeMap<String, (Revision, u64)> = store
        .list(&everything())
        .objects
        .iter()
        .map(|(key, stored)| {
            (key.name.clone(), (stored.revision, stored.object.value()["count"].as_u64().unwrap()))
        })
        .collect();
    assert_eq!(now, counters);
}

#[test]
fn a_crowd_agrees_on_a_store_in_memory() {
    crowd(&Store::new());
}

#[test]
fn a_crowd_agrees_on_a_store_on_disk() {
    let directory = TestDirectory::new(true);
    let store = Store::open(directory.path()).unwrap();
    crowd(&store);
    let before = store.list(&everything());
    drop(store);
    let after = Store::open(directory.path()).unwrap().list(&everything());
    assert_eq!(before.revision, after.revision);
    let texts = |snapshot: &muster_apiserver::store::Snapshot| -> Vec<_> {
        snapshot.objects.iter().map(|(key, stored)| (key.clone(), stored.object.clone())).collect()
    };
    assert_eq!(texts(&before), texts(&after));
}

#[test]
fn a_write_that_nobody_waits_for_may_happen_and_harms_nobody() {
    let directory = TestDirectory::new(false);
    let store = Store::open(directory.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for turn in 0..50 {
            let object = json!({"metadata": {}});
            let write = store.put(key(&format!("k{turn}")), object, Expect::Absent);
            // Polled once, then dropped.
            let _ = futures::FutureExt::now_or_never(write);
        }
        let last = store.put(key("last"), json!({"metadata": {}}), Expect::Absent).await.unwrap();
        assert_eq!(last.revision, store.revision());
        assert_eq!(store.list(&everything()).objects.len() as u64, last.revision - FIRST_REVISION);
    });
}
