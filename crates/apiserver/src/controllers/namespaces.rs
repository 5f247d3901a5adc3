//! The end of namespaces: everything in them goes first, and their status says what still has to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::feed::Seen;
use super::queue::Queue;
use crate::error::ApiError;
use crate::kind::Around;
use crate::lifecycle::{Policy, metadata};
use crate::server::Server;
use crate::store::{Key, Scope};

const RESOURCE: &str = "/namespaces";
const PODS: &str = "/pods";
/// What keeps a namespace until everything in it is gone.
const FINALIZER: &str = "kubernetes";

/// The namespaces that are ending.
#[derive(Default)]
pub(super) struct Namespaces {
    ending: BTreeSet<String>,
    queue: Queue<String>,
}

/// What is still in a namespace.
#[derive(Default)]
struct Remaining {
    /// How many objects there are of each resource, as messages name it.
    resources: BTreeMap<String, usize>,
    /// How many of them each finalizer holds.
    finalizers: BTreeMap<String, usize>,
    /// What could not be deleted, and why.
    failed: Vec<String>,
}

impl Namespaces {
    pub(super) fn observe(&mut self, seen: &Seen) {
        if !seen.is_of(RESOURCE) {
            if self.ending.contains(&seen.key.namespace) {
                self.queue.add(seen.key.namespace.clone());
            }
            return;
        }
        let name = &seen.key.name;
        if seen.gone {
            self.ending.remove(name);
        } else if metadata::is_ending(seen.object()) {
            self.ending.insert(name.clone());
            self.queue.add(name.clone());
        }
    }

    /// Looks at what is in the queue; whether something failed.
    pub(super) async fn work(&mut self, server: &Server) -> bool {
        self.queue.begin();
        while let Some(name) = self.queue.next() {
            let outcome = end(server, &name).await;
            self.queue.done(name, &outcome);
        }
        self.queue.has_failed()
    }
}

async fn end(server: &Server, name: &str) -> Result<(), ApiError> {
    let key = Key::new(&Arc::from(RESOURCE), "", name);
    let Some(namespace) = server.own_get(&key) else { return Ok(()) };
    let held = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
    if !metadata::is_ending(&namespace) || held.is_none_or(|held| !held.iter().any(|one| one == FINALIZER)) {
        return Ok(());
    }
    let remaining = empty(server, name).await;
    let now = Around::now(server);
    let says = |namespace: &mut Value| remaining.tell(namespace, &now);
    let mut told = namespace.clone();
    says(&mut told);
    if told != namespace {
        server.own_change(&key, Some("status"), says).await?;
    }
    if let Some(why) = remaining.failed.first() {
        return Err(ApiError::new(crate::error::Reason::InternalError, why.clone()));
    }
    if remaining.resources.is_empty() {
        return server.own_change(&key, Some("finalize"), finalize).await;
    }
    Ok(())
}

fn finalize(namespace: &mut Value) {
    let held = namespace.pointer_mut("/spec/finalizers").and_then(Value::as_array_mut);
    if let Some(held) = held {
        held.retain(|one| one != FINALIZER);
    }
}

/// Deletes what is in the namespace, pods before the rest, and says what remains.
async fn empty(server: &Server, namespace: &str) -> Remaining {
    let all = server.registry().all();
    let deletable = all.iter().filter(|one| one.traits.namespaced && one.verbs.contains(&"delete"));
    let ids: BTreeSet<Arc<str>> = deletable.map(|one| one.id.clone()).collect();
    let mut remaining = Remaining::default();
    let (pods, others): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| **id == *PODS);
    for ids in [pods, others] {
        for id in ids {
            remaining.empty(server, namespace, id).await;
        }
        // What pods use stays until they are gone.
        if !remaining.resources.is_empty() {
            break;
        }
    }
    remaining
}

impl Remaining {
    async fn empty(&mut self, server: &Server, namespace: &str, id: Arc<str>) {
        let scope = Scope { resource: id, namespace: Some(namespace.to_owned()) };
        for (key, stored) in server.store().list(&scope).objects {
            let object = stored.object.value();
            if metadata::is_ending(&object) {
                continue;
            }
            let uid = metadata::text(&object, "uid");
            if let Err(error) = server.own_delete(&key, uid, Policy::Background).await {
                self.failed.push(error.to_string());
            }
        }
        let left = server.store().list(&scope).objects;
        for (key, stored) in &left {
            let (group, plural) = key.resource.split_once('/').unwrap_or(("", &key.resource));
            *self.resources.entry(format!("{plural}.{group}")).or_default() += 1;
            for finalizer in metadata::finalizers(&stored.object.value()) {
                *self.finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }

    /// Writes into the status of the namespace what is so.
    fn tell(&self, namespace: &mut Value, now: &str) {
        let list = |counted: &BTreeMap<String, usize>, word: &str| {
            let written =
                counted.iter().map(|(name, count)| format!("{name} {word} {count} resource instances"));
            written.collect::<Vec<_>>().join(", ")
        };
        let mut says = |kind: &str, wrong: Option<(&str, String)>, well: (&str, &str)| {
            let (status, reason, message) = match wrong {
                Some((reason, message)) => ("True", reason, message),
                None => ("False", well.0, well.1.to_owned()),
            };
            set_condition(namespace, kind, (status, reason, &message), now);
        };
        let some = |counted: &BTreeMap<String, usize>| !counted.is_empty();
        says(
            "NamespaceDeletionDiscoveryFailure",
            None,
            ("ResourcesDiscovered", "All resources successfully discovered"),
        );
        says(
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
        );
        let failed = (!self.failed.is_empty()).then(|| {
            let (count, why) = (self.failed.len(), self.failed.join(", "));
            (
                "ContentDeletionFailed",
                format!("Failed to delete all resource types, {count} remaining: {why}"),
            )
        });
        says(
            "NamespaceDeletionContentFailure",
            failed,
            ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        );
        let remain = some(&self.resources).then(|| {
            ("SomeResourcesRemain", format!("Some resources are remaining: {}", list(&self.resources, "has")))
        });
        says("NamespaceContentRemaining", remain, ("ContentRemoved", "All content successfully removed"));
        let held = some(&self.finalizers).then(|| {
            let held = list(&self.finalizers, "in");
            (
                "SomeFinalizersRemain",
                format!("Some content in the namespace has finalizers remaining: {held}"),
            )
        });
        says(
            "NamespaceFinalizersRemaining",
            held,
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        );
    }
}

/// Sets a condition; its time moves only when its status does.
fn set_condition(object: &mut Value, kind: &str, (status, reason, message): (&str, &str, &str), now: &str) {
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(all) = conditions.as_array_mut() else { return };
    let known = all.iter().position(|condition| condition["type"] == kind);
    let unmoved = known.and_then(|place| all.get(place)).filter(|condition| condition["status"] == status);
    let since = unmoved.map_or_else(|| now.into(), |condition| condition["lastTransitionTime"].clone());
    let condition = json!({
        "type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message,
    });
    match known.and_then(|place| all.get_mut(place)) {
        Some(place) => *place = condition,
        None => all.push(condition),
    }
}
