//! All that is stored, as it was told change by change.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use muster_apiserver::store::{Change, ChangeKind, Document, Key};
use serde_json::Value;
use tokio::time::Instant;

pub(crate) const MEMBERS: &str = "muster.dev/members";
pub(crate) const CLUSTERS: &str = "muster.dev/replicatedclusters";
pub(crate) const SETS: &str = "apps/statefulsets";
pub(crate) const PODS: &str = "/pods";
pub(crate) const CONFIGS: &str = "/configmaps";
pub(crate) const DEPLOYMENTS: &str = "apps/deployments";
pub(crate) const DAEMONS: &str = "apps/daemonsets";

/// All that is stored. What is looked at is read once.
#[derive(Default)]
pub(crate) struct Stored(BTreeMap<Arc<str>, BTreeMap<String, Object>>);

struct Object {
    document: Document,
    read: OnceCell<Value>,
    /// When it was stored.
    at: Instant,
}

/// For how long what is stored is on its way to whoever watches.
const MOMENT: Duration = Duration::from_millis(20);

impl Object {
    fn value(&self) -> &Value {
        self.read.get_or_init(|| self.document.value())
    }
}

impl Stored {
    pub(crate) fn take(&mut self, change: &Change) {
        let Key { resource, name, .. } = &*change.key;
        let of_kind = self.0.entry(resource.clone()).or_default();
        match change.kind {
            ChangeKind::Deleted => drop(of_kind.remove(name)),
            ChangeKind::Added | ChangeKind::Modified => {
                let object =
                    Object { document: change.object.clone(), read: OnceCell::new(), at: Instant::now() };
                drop(of_kind.insert(name.clone(), object));
            }
        }
    }

    /// The object of this name.
    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<&Value> {
        self.0.get(resource)?.get(name).map(Object::value)
    }

    /// The Pod of this member.
    pub(crate) fn pod(&self, member: &str) -> Option<&Value> {
        self.get(PODS, &format!("{member}-0"))
    }

    /// Whether this object is like this only since a moment ago: nobody can know yet.
    pub(crate) fn is_news(&self, resource: &str, name: &str) -> bool {
        let object = self.0.get(resource).and_then(|of_kind| of_kind.get(name));
        object.is_some_and(|object| object.at.elapsed() < MOMENT)
    }

    /// All objects of this kind.
    pub(crate) fn all(&self, resource: &str) -> Vec<&Value> {
        self.0.get(resource).into_iter().flat_map(BTreeMap::values).map(Object::value).collect()
    }

    /// How many there are of this kind.
    pub(crate) fn count(&self, resource: &str) -> usize {
        self.0.get(resource).map_or(0, BTreeMap::len)
    }
}

/// Whether this condition has this status, at the object's generation.
pub(crate) fn says(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let generation = &object["metadata"]["generation"];
    let found =
        |it: &Value| it["type"] == kind && it["status"] == status && it["observedGeneration"] == *generation;
    conditions.is_some_and(|all| all.iter().any(found))
}

/// Whether it is said to be Ready, as it is asked for now.
pub(crate) fn says_ready(object: &Value) -> bool {
    says(object, "Ready", "True")
        && object["status"]["observedGeneration"] == object["metadata"]["generation"]
}

/// Whether this is on its way out.
pub(crate) fn is_ending(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// What it is called.
pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}
