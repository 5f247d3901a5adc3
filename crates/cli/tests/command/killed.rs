//! `kill -9` of the server itself in the middle of a write storm over HTTPS, again and again on one directory: every
//! acknowledged write is there after the restart, and no version is given twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
};
use kube::{Api, Client, Error, ResourceExt};
use serde_json::{Value, json};

use crate::muster::{Running, Scratch};

const ROUNDS: usize = 50;
/// Writes that are acknowledged before the first kill; each round waits for some more, so that they end in different places.
const WRITES: usize = 40;
/// How many rounds it takes until it is as many again.
const PLACES: usize = 8;
/// Writes to an object before the next is made: it is created, patched, applied, replaced, and every other one is deleted.
const CHANGES: usize = 5;
/// No storm takes this long on a machine that is not broken.
const STORM_WITHIN: Duration = Duration::from_secs(60);
/// What every write changes.
const MARK: &str = "example.org/mark";

/// Who writes what: group, version, kind, plural.
const WRITERS: [(&str, &str, &str, &str); 5] = [
    ("", "v1", "ConfigMap", "configmaps"),
    ("", "v1", "ConfigMap", "configmaps"),
    ("killed.example.org", "v1", "Thing", "things"),
    ("killed.example.org", "v1", "Thing", "things"),
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"),
];

/// An object: who writes it, and its name.
type Key = (usize, String);
/// What was acknowledged last of an object: its version, and its mark; none if it was deleted.
type Acknowledged = BTreeMap<Key, (u64, Option<String>)>;

fn api(client: &Client, writer: usize) -> Api<DynamicObject> {
    let (group, version, kind, plural) = WRITERS[writer];
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
    match kind {
        "CustomResourceDefinition" => Api::all_with(client.clone(), &resource),
        _ => Api::default_namespaced_with(client.clone(), &resource),
    }
}

fn definition(plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.killed.example.org")},
        "spec": {
            "group": "killed.example.org", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    })
}

/// The object that a writer makes as its nth.
fn object(writer: usize, number: usize, mark: &str) -> DynamicObject {
    let (group, version, kind, _) = WRITERS[writer];
    let mut object = if kind == "CustomResourceDefinition" {
        definition(&format!("made{number}"), &format!("Made{number}"))
    } else {
        let api_version = format!("{group}/{version}");
        json!({
            "apiVersion": api_version.trim_start_matches('/'), "kind": kind,
            "metadata": {"name": format!("w{writer}-{number}")},
        })
    };
    object["metadata"]["annotations"] = json!({MARK: mark});
    serde_json::from_value(object).unwrap()
}

fn version(object: &DynamicObject) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

/// What one writer knows at the end of a storm.
#[derive(Default)]
struct Told {
    acknowledged: Acknowledged,
    /// The write that was not answered: what is there may be that too.
    open: Option<(Key, Option<String>)>,
}

/// Writes until the server is gone.
async fn write(client: Client, writer: usize, round: usize, count: Arc<AtomicUsize>) -> Told {
    let api = api(&client, writer);
    let mut told = Told::default();
    let mut last = object(writer, 0, "");
    // The server itself writes the status of definitions, and holds one that is deleted until its objects are gone.
    let ours_alone = WRITERS[writer].2 != "CustomResourceDefinition";
    for step in 0.. {
        let (number, mark) = (round * 1_000 + step / CHANGES, format!("{round}-{step}"));
        let object = object(writer, number, &mark);
        let name = object.name_any();
        let deletes = ours_alone && step % CHANGES == CHANGES - 1 && number % 2 == 0;
        let written = match step % CHANGES {
            _ if deletes => api.delete(&name, &DeleteParams::default()).await.map(|_| last.clone()),
            0 => api.create(&PostParams::default(), &object).await,
            2 => api.patch(&name, &PatchParams::apply("storm").force(), &Patch::Apply(&object)).await,
            3 if ours_alone => {
                last.annotations_mut().insert(MARK.to_owned(), mark.clone());
                api.replace(&name, &PostParams::default(), &last).await
            }
            _ => {
                let patch = json!({"metadata": {"annotations": {MARK: mark}}});
                api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await
            }
        };
        let mark = (!deletes).then_some(mark);
        match written {
            Ok(written) => {
                told.acknowledged.insert((writer, name), (version(&written), mark));
                count.fetch_add(1, Ordering::Relaxed);
                last = written;
            }
            Err(Error::Api(status)) => panic!("{status:?}"),
            Err(_) => {
                told.open = Some(((writer, name), mark));
                break;
            }
        }
    }
    told
}

/// All that was acknowledged is there, and the server is not before any of it.
async fn check(client: &Client, known: &mut Acknowledged, open: &[(Key, Option<String>)], highest: u64) {
    for (writer, (_, _, kind, _)) in WRITERS.iter().enumerate() {
        let list = api(client, writer).list(&ListParams::default()).await.unwrap();
        let now: u64 = list.metadata.resource_version.as_ref().unwrap().parse().unwrap();
        assert!(now >= highest, "version {now} after {highest} was acknowledged");
        let found: BTreeMap<String, &DynamicObject> =
            list.items.iter().map(|object| (object.name_any(), object)).collect();
        for (key, (at, mark)) in known.iter_mut().filter(|(key, _)| key.0 == writer) {
            let object = found.get(&key.1);
            let there = object.map(|object| object.annotations().get(MARK).cloned().unwrap_or_default());
            if there != *mark {
                let may_be = open.contains(&(key.clone(), there.clone()));
                assert!(may_be, "{key:?}: {there:?} instead of {mark:?}");
            }
            let Some(object) = object else {
                *mark = None;
                continue;
            };
            // The server itself writes the status of definitions.
            let own = *kind != "CustomResourceDefinition" && there == *mark;
            assert!(if own { version(object) == *at } else { version(object) >= *at }, "{key:?}");
            (*at, *mark) = (version(object), there);
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_over_https_survives_kill_9() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    let (mut known, mut open, mut highest) = (Acknowledged::new(), Vec::new(), 0);
    for round in 0..=ROUNDS {
        let server = Running::start(&["--data-dir", &directory, "--no-controllers"]);
        let client = server.client().await;
        if round == 0 {
            let things = serde_json::from_value(definition("things", "Thing")).unwrap();
            api(&client, WRITERS.len() - 1).create(&PostParams::default(), &things).await.unwrap();
        }
        check(&client, &mut known, &open, highest).await;
        if round == ROUNDS {
            break;
        }
        let count = Arc::new(AtomicUsize::new(0));
        let storm: Vec<_> = (0..WRITERS.len())
            .map(|writer| tokio::spawn(write(client.clone(), writer, round, count.clone())))
            .collect();
        let enough = async {
            while count.load(Ordering::Relaxed) < WRITES + 7 * (round % PLACES) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(STORM_WITHIN, enough).await.expect("a storm");
        server.signal("-KILL");
        assert_eq!(server.end().0, None, "killed");
        open.clear();
        let before = highest;
        for writer in storm {
            let told = writer.await.unwrap();
            for (at, _) in told.acknowledged.values() {
                assert!(*at > before, "version {at} was given before the kill, which was after {before}");
                highest = highest.max(*at);
            }
            known.extend(told.acknowledged);
            open.extend(told.open);
        }
    }
    let deleted = known.values().filter(|(_, mark)| mark.is_none()).count();
    assert!(known.len() > ROUNDS * WRITERS.len() / 2, "{} objects", known.len());
    assert!(deleted > ROUNDS, "only {deleted} of {} objects were deleted", known.len());
}
