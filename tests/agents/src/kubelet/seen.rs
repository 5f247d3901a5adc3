//! What was seen of the API: the last version of every object that matters here.

use std::collections::BTreeMap;

use futures::stream::{BoxStream, SelectAll, StreamExt};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use serde_json::Value;

use super::Part;
use crate::state::Key;

/// The kinds that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    StatefulSet,
    Pod,
    Claim,
    Deployment,
    DaemonSet,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::StatefulSet, Self::Pod, Self::Claim, Self::Deployment, Self::DaemonSet];

    pub(super) fn resource(self) -> ApiResource {
        let (group, kind, plural) = match self {
            Self::StatefulSet => ("apps", "StatefulSet", "statefulsets"),
            Self::Pod => ("", "Pod", "pods"),
            Self::Claim => ("", "PersistentVolumeClaim", "persistentvolumeclaims"),
            Self::Deployment => ("apps", "Deployment", "deployments"),
            Self::DaemonSet => ("apps", "DaemonSet", "daemonsets"),
        };
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
    }

    pub(super) fn api(self, client: &Client, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(client.clone(), namespace, &self.resource())
    }
}

/// An object: its kind, its namespace, its name.
pub(super) type Id = (Kind, Key);

/// What was seen last.
#[derive(Default)]
pub(super) struct Seen {
    objects: BTreeMap<Id, Value>,
    /// What a watch that lists anew has not shown again yet.
    old: BTreeMap<Kind, Vec<Key>>,
}

/// An event of one of the watches.
pub(super) type Event = (Kind, Result<watcher::Event<DynamicObject>, watcher::Error>);

/// Watches all kinds that matter to this part.
pub(super) fn watch_all(client: &Client, part: &Part) -> SelectAll<BoxStream<'static, Event>> {
    let matters = |kind: &Kind| !part.only_kubelet || matches!(kind, Kind::Pod | Kind::Claim);
    let streams = Kind::ALL.into_iter().filter(matters).map(|kind| {
        let api: Api<DynamicObject> = match &part.namespace {
            Some(namespace) => kind.api(client, namespace),
            None => Api::all_with(client.clone(), &kind.resource()),
        };
        watcher(api, watcher::Config::default()).map(move |event| (kind, event)).boxed()
    });
    futures::stream::select_all(streams)
}

impl Seen {
    pub(super) fn get(&self, kind: Kind, key: &Key) -> Option<&Value> {
        self.objects.get(&(kind, key.clone()))
    }

    /// Whether a Pod has this address.
    pub(super) fn has_address(&self, ip: &str) -> bool {
        let pods = self.objects.iter().filter(|((kind, _), _)| *kind == Kind::Pod);
        pods.into_iter().any(|(_, pod)| pod.pointer("/status/podIP").is_some_and(|known| known == ip))
    }

    /// All that is known.
    pub(super) fn all(&self) -> Vec<Id> {
        self.objects.keys().cloned().collect()
    }

    /// Takes in what a write or a read gave back, unless something newer is known.
    pub(super) fn put(&mut self, kind: Kind, object: &DynamicObject) -> Key {
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        let value = serde_json::to_value(object).unwrap_or_default();
        self.objects.insert((kind, key.clone()), value);
        key
    }

    pub(super) fn forget(&mut self, kind: Kind, key: &Key) {
        self.objects.remove(&(kind, key.clone()));
    }

    /// Takes in an event; gives back which objects have to be looked at.
    pub(super) fn take(&mut self, kind: Kind, event: watcher::Event<DynamicObject>) -> Vec<Key> {
        match event {
            watcher::Event::Apply(object) => vec![self.put(kind, &object)],
            watcher::Event::Delete(object) => {
                let key = (object.namespace().unwrap_or_default(), object.name_any());
                self.forget(kind, &key);
                vec![key]
            }
            watcher::Event::Init => {
                let known = self.objects.keys().filter(|(it, _)| *it == kind).map(|(_, key)| key.clone());
                let known = known.collect();
                self.old.insert(kind, known);
                Vec::new()
            }
            watcher::Event::InitApply(object) => {
                let key = self.put(kind, &object);
                if let Some(old) = self.old.get_mut(&kind) {
                    old.retain(|it| *it != key);
                }
                vec![key]
            }
            watcher::Event::InitDone => {
                let gone = self.old.remove(&kind).unwrap_or_default();
                for key in &gone {
                    self.forget(kind, key);
                }
                gone
            }
        }
    }
}
