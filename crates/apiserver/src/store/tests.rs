//! Tests of the store.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn key(name: &str) -> Key {
    Key::new(&Arc::from("/things"), "ns", name)
}

fn scope() -> Scope {
    Scope { resource: Arc::from("/things"), namespace: Some("ns".into()) }
}

fn object(value: u64) -> Value {
    json!({"metadata": {"name": "a"}, "value": value})
}

#[test]
fn a_write_gets_the_next_revision_and_says_so() {
    let store = Store::new();
    let stored = done(store.put(key("a"), object(1), Expect::Absent)).unwrap();
    assert_eq!(stored.revision, FIRST_REVISION + 1);
    assert_eq!(stored.object.value()["metadata"]["resourceVersion"], "2");
    assert_eq!(store.get(&key("a")).map(|found| found.revision), Some(2));
    assert_eq!(store.revision(), 2);
}

#[test]
fn a_write_happens_only_on_what_was_expected() {
    let store = Store::new();
    assert_eq!(done(store.put(key("a"), object(1), Expect::At(1))).err(), Some(WriteError::Gone));
    done(store.put(key("a"), object(1), Expect::Absent)).unwrap();
    assert_eq!(done(store.put(key("a"), object(2), Expect::Absent)).err(), Some(WriteError::Exists));
    assert_eq!(done(store.put(key("a"), object(2), Expect::At(1))).err(), Some(WriteError::Changed));
    assert_eq!(done(store.remove(&key("a"), object(1), 1)).err(), Some(WriteError::Changed));
    done(store.put(key("a"), object(2), Expect::At(2))).unwrap();
    assert_eq!(store.revision(), 3, "what did not happen moves nothing");
    done(store.remove(&key("a"), object(2), 3)).unwrap();
    assert!(store.get(&key("a")).is_none());
    assert_eq!(done(store.remove(&key("a"), object(2), 3)).err(), Some(WriteError::Gone));
}

#[test]
fn whoever_is_told_of_changes_finds_them_made() {
    let store = Store::new();
    let (seen, reader) = (Arc::new(Mutex::new(Vec::new())), store.clone());
    let noted = seen.clone();
    let told = move |change: &Change| {
        let found = reader.get(&change.key).map(|stored| stored.revision);
        noted.lock().unwrap().push((change.kind, change.revision, found));
    };
    assert!(store.tell(told));
    assert!(!store.tell(|_| ()), "one is enough");
    done(store.put(key("a"), object(1), Expect::Absent)).unwrap();
    done(store.put(key("a"), object(2), Expect::At(1))).unwrap_err();
    done(store.remove(&key("a"), object(1), 2)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(ChangeKind::Added, 2, Some(2)), (ChangeKind::Deleted, 3, None)]);
}

#[test]
fn a_list_is_of_one_revision_and_within_its_scope() {
    let store = Store::new();
    for name in ["b", "a"] {
        done(store.put(key(name), object(1), Expect::Absent)).unwrap();
    }
    done(store.put(Key::new(&Arc::from("/things"), "other", "c"), object(1), Expect::Absent)).unwrap();
    done(store.put(Key::new(&Arc::from("/thingses"), "ns", "d"), object(1), Expect::Absent)).unwrap();
    let names = |scope: &Scope| -> Vec<String> {
        store.list(scope).objects.into_iter().map(|(key, _)| key.name.clone()).collect()
    };
    assert_eq!(names(&scope()), ["a", "b"]);
    assert_eq!(names(&Scope { namespace: None, ..scope() }), ["a", "b", "c"]);
    assert_eq!(store.list(&scope()).revision, 5);
}

#[test]
fn changes_tell_what_was_before() {
    let store = Store::new();
    done(store.put(key("a"), object(1), Expect::Absent)).unwrap();
    done(store.put(key("a"), object(2), Expect::At(2))).unwrap();
    done(store.remove(&key("a"), object(2), 3)).unwrap();
    let (changes, complete) = store.changes_after(&scope(), FIRST_REVISION).unwrap();
    let told: Vec<_> =
        changes.iter().map(|change| (change.revision, change.kind, change.previous.is_some())).collect();
    assert_eq!(
        told,
        [(2, ChangeKind::Added, false), (3, ChangeKind::Modified, true), (4, ChangeKind::Deleted, true)]
    );
    assert_eq!(complete, 4);
    assert_eq!(changes[2].object.value()["metadata"]["resourceVersion"], "4");
    let (later, _) = store.changes_after(&scope(), 3).unwrap();
    assert_eq!(later.len(), 1);
}

#[test]
fn what_fell_out_of_the_window_is_too_old() {
    let store = Store::new();
    for value in 0..10 {
        let expect = if value == 0 { Expect::Absent } else { Expect::At(value + 1) };
        done(store.put(key("a"), object(value), expect)).unwrap();
    }
    store.compact(3);
    assert_eq!(store.changes_after(&scope(), 7).err(), Some(TooOld { asked: 7, oldest: 8 }));
    assert_eq!(store.changes_after(&scope(), 8).unwrap().0.len(), 3);
}

#[test]
fn the_window_is_bounded_in_bytes_too() {
    let store = Store::new();
    let large = "x".repeat(1 << 20);
    for value in 0..45 {
        let expect = if value == 0 { Expect::Absent } else { Expect::At(value + 1) };
        done(store.put(key("a"), json!({"metadata": {}, "large": large}), expect)).unwrap();
    }
    let kept = 46 - store.changes_after(&scope(), 0).unwrap_err().oldest;
    // Each of 2 MiB, with what was before.
    let fit = HISTORY_BYTES as u64 >> 21;
    assert!((fit - 2..=fit).contains(&kept), "{kept} changes, where {fit} would fit");
    store.compact(0);
    done(store.put(key("b"), object(1), Expect::Absent)).unwrap();
    assert_eq!(store.changes_after(&scope(), 46).unwrap().0.len(), 1, "what was dropped counts no more");
}

#[test]
fn what_is_too_large_is_refused() {
    let store = Store::new();
    let of = |bytes: usize| json!({"metadata": {}, "large": "x".repeat(bytes)});
    let refused = done(store.put(key("a"), of(MAX_OBJECT_BYTES), Expect::Absent)).unwrap_err();
    assert!(matches!(refused, WriteError::TooLarge { bytes } if bytes > MAX_OBJECT_BYTES));
    let status = refused.answer(crate::error::Subject::default()).to_status();
    assert_eq!(status["code"], 500);
    assert_eq!(status["message"], "etcdserver: request is too large");
    assert_eq!(status.get("reason"), None);
    done(store.put(key("a"), of(MAX_OBJECT_BYTES - 100), Expect::Absent)).unwrap();
}

#[test]
fn a_follower_learns_that_something_moved() {
    let store = Store::new();
    let mut follower = store.follow();
    assert!(!follower.has_moved());
    done(store.put(key("a"), object(1), Expect::Absent)).unwrap();
    assert!(follower.has_moved());
    done(follower.moved());
    assert!(!follower.has_moved());
}

proptest! {
    /// Replaying the changes after any revision on a list of that revision gives the list of now.
    #[test]
    fn a_list_and_its_changes_make_the_present(writes in prop::collection::vec((0..4u8, any::<bool>()), 0..60), cut in 0..60usize) {
        let store = Store::new();
        let mut at = None;
        for (index, (name, remove)) in writes.iter().enumerate() {
            if index == cut {
                at = Some(store.list(&scope()));
            }
            let key = key(&name.to_string());
            match store.get(&key) {
                None => drop(done(store.put(key, object(index as u64), Expect::Absent))),
                Some(found) if *remove => drop(done(store.remove(&key, object(0), found.revision))),
                Some(found) => drop(done(store.put(key, object(index as u64), Expect::At(found.revision)))),
            }
        }
        let at = at.unwrap_or_else(|| store.list(&scope()));
        let mut replayed: BTreeMap<Arc<Key>, Revision> =
            at.objects.iter().map(|(key, stored)| (key.clone(), stored.revision)).collect();
        let mut last = at.revision;
        for change in store.changes_after(&scope(), at.revision).unwrap().0 {
            prop_assert!(change.revision > last, "in order, without a duplicate");
            last = change.revision;
            match change.kind {
                ChangeKind::Deleted => prop_assert!(replayed.remove(&change.key).is_some()),
                ChangeKind::Added => prop_assert!(replayed.insert(change.key.clone(), change.revision).is_none()),
                ChangeKind::Modified => prop_assert!(replayed.insert(change.key.clone(), change.revision).is_some()),
            }
        }
        let now: BTreeMap<Arc<Key>, Revision> =
            store.list(&scope()).objects.into_iter().map(|(key, stored)| (key, stored.revision)).collect();
        prop_assert_eq!(replayed, now);
    }
}
