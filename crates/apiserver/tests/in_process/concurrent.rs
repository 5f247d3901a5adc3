//! Many clients at once, on several threads: writes are compare-and-swap in one order, and watches tell that order.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use kube::api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client, Error, ResourceExt, api::DynamicObject};
use muster_apiserver::server::Server;
use serde_json::json;

use crate::widgets::{server, widget, widgets};

const CLIENTS: usize = 8;
const STEPS: usize = 60;
const NAMES: [&str; 3] = ["a", "b", "c"];

fn version(object: &DynamicObject) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

fn size(object: &DynamicObject) -> i64 {
    object.data["spec"]["size"].as_i64().unwrap()
}

/// Adds one to a widget by compare-and-swap until it is done; says which version that made.
async fn increment(widgets: &Api<DynamicObject>, name: &str) -> u64 {
    loop {
        let mut object = widgets.get(name).await.unwrap();
        object.data["spec"]["size"] = (size(&object) + 1).into();
        match widgets.replace(name, &PostParams::default(), &object).await {
            Ok(written) => {
                assert_eq!(size(&written), size(&object), "what was written is what was sent");
                return version(&written);
            }
            Err(Error::Api(status)) if status.code == 409 => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The events of a watch from this version on, until every widget has this size.
async fn told(client: Client, since: String, until: i64) -> Vec<(String, u64, i64)> {
    let widgets = widgets(&client);
    let mut events = widgets.watch(&WatchParams::default(), &since).await.unwrap().boxed();
    let mut seen: Vec<(String, u64, i64)> = Vec::new();
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    while NAMES.iter().any(|name| sizes.get(*name).copied() != Some(until)) {
        match events.try_next().await.unwrap() {
            Some(WatchEvent::Modified(object)) => {
                sizes.insert(object.name_any(), size(&object));
                seen.push((object.name_any(), version(&object), size(&object)));
            }
            other => panic!("{other:?}"),
        }
    }
    seen
}

/// A server with a widget of each name: from which version on they are counted up, and how far each will be.
async fn begin() -> (Server, Client, String, i64) {
    let (server, client) = server().await;
    for name in NAMES {
        widgets(&client).create(&PostParams::default(), &widget(name, 0)).await.unwrap();
    }
    let list = widgets(&client).list(&ListParams::default()).await.unwrap();
    let since = list.metadata.resource_version.unwrap();
    let until = i64::try_from(CLIENTS * STEPS / NAMES.len()).unwrap();
    (server, client, since, until)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn increments_are_neither_lost_nor_doubled_and_every_watch_tells_them_in_order() {
    let (_server, client, since, until) = begin().await;
    let early: Vec<_> = (0..4).map(|_| tokio::spawn(told(client.clone(), since.clone(), until))).collect();
    let writers: Vec<_> = (0..CLIENTS)
        .map(|which| {
            let widgets = widgets(&client);
            tokio::spawn(async move {
                let mut made = Vec::new();
                for step in 0..STEPS {
                    made.push(increment(&widgets, NAMES[(which + step) % NAMES.len()]).await);
                }
                made
            })
        })
        .collect();
    let mut made = Vec::new();
    for writer in writers {
        let own = writer.await.unwrap();
        assert!(own.is_sorted_by(|one, next| one < next), "one after the other, as this client did them");
        made.extend(own);
    }
    made.sort_unstable();
    let mut histories = Vec::new();
    for watch in early {
        histories.push(watch.await.unwrap());
    }
    histories.push(told(client.clone(), since, until).await);
    for history in &histories {
        let versions: Vec<u64> = history.iter().map(|(_, version, _)| *version).collect();
        assert_eq!(versions, made, "every acknowledged write once, in order, and nothing else");
        for name in NAMES {
            let sizes: Vec<i64> =
                history.iter().filter(|(one, ..)| one == name).map(|(.., size)| *size).collect();
            assert_eq!(sizes, (1..=until).collect::<Vec<_>>(), "each built on the one before");
        }
    }
    let (_, middle, _) = histories[0][made.len() / 2].clone();
    let rest = told(client, middle.to_string(), until).await;
    assert_eq!(rest[..], histories[0][made.len() / 2 + 1..], "a watch goes on where another stopped");
}

/// What a watch that began with what was there told: what that was, the bookmark after it, and all that came then.
struct Joined {
    initial: BTreeMap<String, (u64, i64)>,
    bookmark: u64,
    then: Vec<(String, u64, i64)>,
}

/// Watches from whatever there is, until every widget has this size.
async fn join(client: Client, until: i64) -> Joined {
    let widgets = widgets(&client);
    let parameters = WatchParams::default().initial_events();
    let mut events = widgets.watch(&parameters, "").await.unwrap().boxed();
    let mut joined = Joined { initial: BTreeMap::new(), bookmark: 0, then: Vec::new() };
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    while joined.bookmark == 0 || NAMES.iter().any(|name| sizes.get(*name).copied() != Some(until)) {
        match events.try_next().await.unwrap() {
            Some(WatchEvent::Added(object)) if joined.bookmark == 0 => {
                sizes.insert(object.name_any(), size(&object));
                joined.initial.insert(object.name_any(), (version(&object), size(&object)));
            }
            Some(WatchEvent::Bookmark(mark)) => {
                joined.bookmark = mark.metadata.resource_version.parse().unwrap();
            }
            Some(WatchEvent::Modified(object)) if joined.bookmark != 0 => {
                sizes.insert(object.name_any(), size(&object));
                joined.then.push((object.name_any(), version(&object), size(&object)));
            }
            other => panic!("{other:?}"),
        }
    }
    joined
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bookmark_divides_what_was_there_from_what_came_after_it() {
    let (_server, client, since, until) = begin().await;
    let writers: Vec<_> = (0..CLIENTS)
        .map(|which| {
            let widgets = widgets(&client);
            tokio::spawn(async move {
                for step in 0..STEPS {
                    increment(&widgets, NAMES[(which + step) % NAMES.len()]).await;
                }
            })
        })
        .collect();
    let watches: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let joined = join(client.clone(), until).await;
                let again = told_from(client, joined.bookmark, joined.then.len()).await;
                (joined, again)
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let all = told(client.clone(), since, until).await;
    for watch in watches {
        let (joined, again) = watch.await.unwrap();
        let then: Vec<_> = all.iter().filter(|(_, version, _)| *version > joined.bookmark).cloned().collect();
        assert_eq!(joined.then, then, "all that came after the bookmark, and nothing else");
        assert_eq!(again, then, "and who goes on from the bookmark is told the same");
        for (name, (version, size)) in &joined.initial {
            let latest = all.iter().rfind(|(one, at, _)| one == name && *at <= joined.bookmark);
            let expected = latest.map_or((*version, 0), |(_, at, size)| (*at, *size));
            assert_eq!((*version, *size), expected, "as it was at the bookmark");
        }
    }
}

/// So many events from this version on.
async fn told_from(client: Client, since: u64, count: usize) -> Vec<(String, u64, i64)> {
    let widgets = widgets(&client);
    let events = widgets.watch(&WatchParams::default(), &since.to_string()).await.unwrap();
    let changes = events.try_filter_map(|event| async move {
        Ok(match event {
            WatchEvent::Modified(object) => Some((object.name_any(), version(&object), size(&object))),
            _ => None,
        })
    });
    changes.take(count).try_collect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn patches_of_different_fields_at_once_are_all_there() {
    let (_server, client) = server().await;
    widgets(&client).create(&PostParams::default(), &widget("a", 0)).await.unwrap();
    let writers: Vec<_> = (0..CLIENTS)
        .map(|which| {
            let widgets = widgets(&client);
            tokio::spawn(async move {
                for step in 0..STEPS {
                    let patch = json!({"metadata": {"labels": {format!("l{which}"): step.to_string()}}});
                    widgets.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let labels = widgets(&client).get("a").await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels.len(), CLIENTS);
    assert!(labels.values().all(|value| *value == (STEPS - 1).to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn services_made_at_once_get_addresses_of_their_own() {
    let (_server, client) = server().await;
    let kind = kube::api::GroupVersionKind::gvk("", "v1", "Service");
    let kind = kube::api::ApiResource::from_gvk_with_plural(&kind, "services");
    let services: Api<DynamicObject> = Api::default_namespaced_with(client, &kind);
    let writers: Vec<_> = (0..60)
        .map(|number| {
            let services = services.clone();
            let object = json!({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("s{number}")},
                "spec": {"type": "NodePort", "ports": [{"port": 80}]},
            });
            let object = serde_json::from_value(object).unwrap();
            tokio::spawn(async move { services.create(&PostParams::default(), &object).await.unwrap() })
        })
        .collect();
    let (mut addresses, mut ports) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for writer in writers {
        let service = writer.await.unwrap();
        addresses.insert(service.data["spec"]["clusterIP"].to_string());
        ports.insert(service.data["spec"]["ports"][0]["nodePort"].to_string());
    }
    assert_eq!((addresses.len(), ports.len()), (60, 60));
}
