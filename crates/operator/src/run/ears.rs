//! What the watches tell, handed on to whoever it concerns: to passes by their keys, to managers by their clusters.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

use crate::cache::{Cached, Change, Listener};
use crate::child::Kind;
use crate::context::Context;
use crate::key::{Key, Name};
use crate::manager::Managers;
use crate::manager::facts::out_of_service_taint;

/// Hands changes on to whoever they concern.
#[derive(Clone)]
pub(super) struct Ears {
    pub(super) context: Arc<Context>,
    pub(super) managers: Managers,
}

impl Listener for Ears {
    fn changed<K: Cached>(&self, change: &Change<K>) {
        let object = change.object();
        if let (Change::Was(gone), Some(kind)) = (change, Kind::named(&K::kind(&()))) {
            let name = Name::of(gone.as_ref());
            self.context.caches.memos.forget(kind, &name);
            if kind == Kind::ConfigMap {
                self.context.caches.configs.forget(&name);
            }
        }
        let told = told(change);
        for key in concerned(change) {
            if let Key::Member(name) = &key
                && told != Told::Status
            {
                self.wake_cluster_of(name);
            }
            match (&key, K::kind(&()).as_ref()) {
                (Key::Cluster(_), "ReplicatedCluster") | (Key::Member(_), "Member") => {
                    self.context.queue.changed(key, &object.resource_version().unwrap_or_default());
                }
                _ => self.context.queue.add(key),
            }
        }
        if let Some(before) = left(change) {
            self.context.queue.moved(&before);
            self.managers.wake(&before);
        }
        let Some(cluster) = object.cluster() else { return self.surroundings_changed(change) };
        if K::kind(&()) == "ConfigMap" {
            self.config_changed(&cluster, &object.name_any());
        }
        self.context.queue.moved(&cluster);
        if told == Told::Status {
            return;
        }
        self.managers.wake(&cluster);
        if K::kind(&()) == "ReplicatedCluster" {
            // What a cluster says of its pause concerns all its Members.
            for member in self.context.caches.members.of_cluster(&cluster) {
                self.context.queue.add(Key::Member(Name::of(member.as_ref())));
            }
        }
    }
}

/// Whose passes a change concerns. Labels say so, and can be changed: then also whose it concerned before.
fn concerned<K: Cached>(change: &Change<K>) -> Vec<Key> {
    let mut keys = change.object().concerns();
    if let Change::Is(_, Some(old)) = change {
        let before = old.concerns().into_iter().filter(|key| !keys.contains(key));
        keys.extend(before.collect::<Vec<_>>());
    }
    keys
}

/// The cluster that an object belonged to before, if it does not any more.
fn left<K: Cached>(change: &Change<K>) -> Option<Name> {
    let Change::Is(now, Some(old)) = change else { return None };
    old.cluster().filter(|before| now.cluster().as_ref() != Some(before))
}

/// What a change is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The status of an object of ours, and nothing else: that concerns whoever counts it, and no manager.
    Status,
    /// Anything.
    Anything,
}

fn told<K: Cached>(change: &Change<K>) -> Told {
    let Change::Is(new, Some(old)) = change else { return Told::Anything };
    let ours = matches!(K::kind(&()).as_ref(), "ReplicatedCluster" | "Member");
    let said = |object: &K| {
        let meta = object.meta();
        (meta.uid.clone(), meta.generation, meta.deletion_timestamp.clone(), meta.labels.clone())
    };
    let same = ours && said(old) == said(new) && old.annotations() == new.annotations();
    if same && old.finalizers() == new.finalizers() { Told::Status } else { Told::Anything }
}

impl Ears {
    /// A Member's children concern its cluster through the Member's own verdict, except claims, which tell whether the
    /// cluster was formed.
    fn wake_cluster_of(&self, member: &Name) {
        if let Some(member) = self.context.caches.members.get(member) {
            self.managers.wake(&Name::of(member.as_ref()).beside(&member.spec.cluster_name));
        }
    }

    /// What members are configured with concerns each that is made of it: without it none can be made.
    fn config_changed(&self, cluster: &Name, config: &str) {
        for member in self.context.caches.members.of_cluster(cluster) {
            let uses = member.spec.workload.as_ref().is_some_and(|workload| workload.config == config);
            if uses {
                self.context.queue.add(Key::Member(Name::of(member.as_ref())));
            }
        }
    }

    /// A namespace concerns the clusters in it. A storage class concerns every cluster that refers to it; there are few of
    /// them, and they seldom change.
    fn surroundings_changed<K: Cached>(&self, change: &Change<K>) {
        if let Some(change) = (change as &dyn Any).downcast_ref::<Change<Node>>() {
            return self.node_changed(change);
        }
        let clusters = match K::kind(&()).as_ref() {
            "StorageClass" => self.context.caches.clusters.all(),
            "Namespace" => self.context.caches.clusters.in_namespace(&change.object().name_any()),
            _ => return,
        };
        for cluster in clusters {
            self.context.queue.add(Key::Cluster(Name::of(cluster.as_ref())));
        }
    }

    /// A node that is taken out of service proves that nothing on it runs, which a recovery may be waiting for. Nothing else of
    /// a node is looked at, and nodes change all the time.
    fn node_changed(&self, change: &Change<Node>) {
        let (now, before) = match change {
            Change::Is(now, before) => (Some(now), before.as_ref()),
            Change::Was(gone) => (None, Some(gone)),
        };
        let taint = |node: &&Arc<Node>| out_of_service_taint(node).cloned();
        let now = now.as_ref().and_then(taint);
        if now == before.as_ref().and_then(taint) {
            return;
        }
        if now.is_none() {
            // The proof is kept for members whose Pods are gone: of whom cannot be seen from here.
            return self.managers.wake_all();
        }
        let node = change.object().name_any();
        let on_it = |pod: &Arc<Pod>| {
            pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref()).is_some_and(|name| *name == node)
        };
        let pods = self.context.caches.pods.all().into_iter().filter(on_it);
        let clusters: BTreeSet<Name> = pods.filter_map(|pod| pod.cluster()).collect();
        for cluster in &clusters {
            self.managers.wake(cluster);
        }
    }
}
