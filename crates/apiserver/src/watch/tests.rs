//! Tests of watches, in paused time.

use std::time::Duration;

use super::*;
use crate::request::selector::{Fields, Labels};
use crate::store::{Expect, Key, done};
use serde_json::Value;
use std::sync::Arc;

fn resource() -> Arc<str> {
    Arc::from("g/widgets")
}

fn object(name: &str, colour: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"colour": colour}}})
}

fn write(store: &Store, name: &str, colour: &str) -> Revision {
    let key = Key::new(&resource(), "ns", name);
    let expect = store.get(&key).map_or(Expect::Absent, |found| Expect::At(found.revision));
    done(store.put(key, object(name, colour), expect)).unwrap().revision
}

fn remove(store: &Store, name: &str) {
    let key = Key::new(&resource(), "ns", name);
    let found = store.get(&key).unwrap();
    done(store.remove(&key, found.object.value(), found.revision)).unwrap();
}

fn options(from: Start) -> WatchOptions {
    WatchOptions {
        scope: Scope { resource: resource(), namespace: None },
        selection: Selection::default(),
        from,
        since: None,
        bookmarks: false,
        lasts: DEFAULT_WATCH,
        type_meta: ("g/v1".into(), "Widget".into()),
    }
}

fn told(event: &Event) -> (EventKind, String, String) {
    let text = |field: &str| event.object.value()["metadata"][field].as_str().unwrap_or("-").to_owned();
    (event.kind, text("name"), text("resourceVersion"))
}

async fn next(watch: &mut Watch) -> (EventKind, String, String) {
    told(&watch.next().await.unwrap())
}

fn is(kind: EventKind, name: &str, version: Revision) -> (EventKind, String, String) {
    (kind, name.to_owned(), version.to_string())
}

#[tokio::test(start_paused = true)]
async fn what_is_there_comes_first_and_then_what_happens() {
    let store = Store::new();
    let first = write(&store, "a", "red");
    let mut watch = Watch::new(&store, options(Start::Everything { marked: true, past: None })).unwrap();
    assert_eq!(next(&mut watch).await, is(EventKind::Added, "a", first));
    let marker = watch.next().await.unwrap();
    assert_eq!(marker.object.value()["metadata"]["annotations"][INITIAL_EVENTS_END], "true");
    assert_eq!(
        (&marker.object.value()["kind"], &marker.object.value()["apiVersion"]),
        (&json!("Widget"), &json!("g/v1"))
    );
    let second = write(&store, "a", "blue");
    remove(&store, "a");
    assert_eq!(next(&mut watch).await, is(EventKind::Modified, "a", second));
    assert_eq!(next(&mut watch).await, is(EventKind::Deleted, "a", second + 1));
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_after_a_revision() {
    let store = Store::new();
    let first = write(&store, "a", "red");
    let second = write(&store, "b", "red");
    let mut watch = Watch::new(&store, options(Start::After(first))).unwrap();
    assert_eq!(next(&mut watch).await, is(EventKind::Added, "b", second));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_waits_is_woken() {
    let store = Store::new();
    let mut watch = Watch::new(&store, options(Start::After(store.revision()))).unwrap();
    let writer = store.clone();
    let (event, _) = tokio::join!(next(&mut watch), async move { write(&writer, "a", "red") });
    assert_eq!(event, is(EventKind::Added, "a", 2));
}

#[tokio::test(start_paused = true)]
async fn a_selection_turns_changes_into_comings_and_goings() {
    let store = Store::new();
    let reds = Selection { labels: Labels::parse("colour=red").unwrap(), fields: Fields::default() };
    let mut watch =
        Watch::new(&store, WatchOptions { selection: reds, ..options(Start::After(store.revision())) })
            .unwrap();
    write(&store, "a", "blue");
    let came = write(&store, "a", "red");
    let stayed = write(&store, "a", "red");
    let left = write(&store, "a", "blue");
    remove(&store, "a");
    let again = write(&store, "b", "red");
    assert_eq!(next(&mut watch).await, is(EventKind::Added, "a", came));
    assert_eq!(next(&mut watch).await, is(EventKind::Modified, "a", stayed));
    let gone = watch.next().await.unwrap();
    assert_eq!(told(&gone), is(EventKind::Deleted, "a", left));
    assert_eq!(gone.object.value()["metadata"]["labels"]["colour"], "red", "as it was last seen");
    assert_eq!(next(&mut watch).await, is(EventKind::Added, "b", again));
}

#[tokio::test(start_paused = true)]
async fn other_scopes_are_not_told_and_bookmarks_move_on() {
    let store = Store::new();
    let mut watch =
        Watch::new(&store, WatchOptions { bookmarks: true, ..options(Start::After(store.revision())) })
            .unwrap();
    done(store.put(Key::new(&Arc::from("g/others"), "ns", "x"), object("x", "red"), Expect::Absent)).unwrap();
    let begun = Instant::now();
    assert_eq!(next(&mut watch).await, is(EventKind::Bookmark, "-", 2));
    assert_eq!(begun.elapsed(), BOOKMARK_INTERVAL);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_time_is_over() {
    let store = Store::new();
    let lasts = Duration::from_secs(5);
    let mut watch =
        Watch::new(&store, WatchOptions { lasts, ..options(Start::After(store.revision())) }).unwrap();
    let begun = Instant::now();
    assert_eq!(watch.next().await, None);
    assert_eq!(begun.elapsed(), lasts);
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn who_falls_out_of_the_window_is_told_to_list_again() {
    let store = Store::new();
    let start = store.revision();
    let mut watch = Watch::new(&store, options(Start::After(start))).unwrap();
    for _ in 0..3 {
        write(&store, "a", "red");
    }
    store.compact(1);
    let event = watch.next().await.unwrap();
    assert_eq!(
        (event.kind, &event.object.value()["code"], &event.object.value()["reason"]),
        (EventKind::Error, &json!(410), &json!("Expired"))
    );
    assert_eq!(watch.next().await, None);
    let mut late = Watch::new(&store, options(Start::After(start))).unwrap();
    assert_eq!(late.next().await.map(|event| event.kind), Some(EventKind::Error));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_one_resource_is_not_bothered_by_others_nor_left_behind_by_them() {
    let store = Store::new();
    let first = write(&store, "a", "red");
    let mut watch = Watch::new(&store, options(Start::After(first))).unwrap();
    let nothing = tokio::time::timeout(Duration::from_secs(1), watch.next()).await;
    assert!(nothing.is_err());
    let follower = store.follow_resource(&resource());
    let other = Key::new(&Arc::from("g/gadgets"), "ns", "x");
    done(store.put(other, object("x", "red"), Expect::Absent)).unwrap();
    assert!(!follower.has_moved());
    store.compact(0);
    let second = write(&store, "a", "blue");
    assert!(follower.has_moved());
    assert_eq!(next(&mut watch).await, is(EventKind::Modified, "a", second));
    let mut late = Watch::new(&store, options(Start::After(first))).unwrap();
    assert_eq!(late.next().await.unwrap().kind, EventKind::Error, "it cannot know what it missed");
}

#[tokio::test]
async fn thousands_of_watches_are_all_told_everything_in_order() {
    const WATCHES: usize = 3_000;
    let store = Store::new();
    let watch = |_| {
        let mut watch = Watch::new(&store, options(Start::After(store.revision()))).unwrap();
        tokio::spawn(async move {
            let mut told = Vec::new();
            while told.len() < 10 {
                told.push(watch.next().await.unwrap().revision);
            }
            told
        })
    };
    let watches: Vec<_> = (0..WATCHES).map(watch).collect();
    let mut written = Vec::new();
    for colour in 0..10 {
        written.push(write(&store, "a", &colour.to_string()));
        tokio::task::yield_now().await;
    }
    for watch in watches {
        assert_eq!(watch.await.unwrap(), written);
    }
}

#[tokio::test(start_paused = true)]
async fn what_came_before_the_resource_is_not_told() {
    let store = Store::new();
    let start = store.revision();
    write(&store, "a", "red");
    let since = Some(store.revision());
    let mut early = Watch::new(&store, WatchOptions { since, ..options(Start::After(start)) }).unwrap();
    assert_eq!(early.next().await.map(|event| event.kind), Some(EventKind::Error));
    let from = Start::After(store.revision());
    let mut watch = Watch::new(&store, WatchOptions { since, ..options(from) }).unwrap();
    write(&store, "a", "blue");
    assert_eq!(watch.next().await.map(|event| event.kind), Some(EventKind::Modified));
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_comes_shortly_before_the_end() {
    let store = Store::new();
    let (lasts, from) = (Duration::from_secs(5), Start::After(store.revision()));
    let mut watch = Watch::new(&store, WatchOptions { lasts, bookmarks: true, ..options(from) }).unwrap();
    let begun = Instant::now();
    assert_eq!(watch.next().await.map(|event| event.kind), Some(EventKind::Bookmark));
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_in_time_however_much_happens() {
    let store = Store::new();
    let lasts = Duration::from_secs(5);
    let mut watch = Watch::new(&store, WatchOptions { lasts, ..options(Start::After(1)) }).unwrap();
    for _ in 0..5 {
        write(&store, "a", "red");
        assert!(watch.next().await.is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    write(&store, "a", "red");
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_may_be_wanted_for_longer_than_time_goes() {
    let store = Store::new();
    let lasts = Duration::from_secs(i64::MAX.unsigned_abs());
    let mut watch = Watch::new(&store, WatchOptions { lasts, ..options(Start::After(1)) }).unwrap();
    write(&store, "a", "red");
    assert!(watch.next().await.is_some());
}
