//! Events: what a person would want to know, each said once.
//!
//! An Event is news, not knowledge: what is lost on its way is in status all the same. So they go out beside the work,
//! bounded in number, and never hold anything up.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::ResourceExt;
use tokio::sync::mpsc;

use crate::cache::{Cached, Caches};
use crate::clock::SharedClock;
use crate::door::Door;
use crate::key::Name;
use muster_api::ReplicatedCluster;

/// How many Events may wait to be sent; more at once is a flood, and the rest is dropped and counted.
const MAX_WAITING: usize = 256;
/// How many Events are remembered as said.
const MAX_REMEMBERED: usize = 10_000;
/// Longest note of an Event in bytes, as the API server counts it.
const NOTE_MAX: usize = 1024;
/// Who says it.
const CONTROLLER: &str = "muster.dev/operator";

/// Whether all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It is.
    Normal,
    /// Someone should look.
    Warning,
}

/// Something worth saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    /// Whether all is well.
    pub tone: Tone,
    /// In one word.
    pub reason: &'static str,
    /// For a person.
    pub message: String,
}

/// Who says it. Cloning gives another handle to the same.
#[derive(Clone)]
pub struct Herald(Arc<Inner>);

struct Inner {
    waiting: mpsc::Sender<Event>,
    said: Mutex<HashSet<(String, &'static str, String)>>,
    clock: SharedClock,
    instance: String,
}

impl Herald {
    /// A herald, and what it has to send: [`send`] does that.
    pub fn new(clock: SharedClock, instance: String) -> (Self, mpsc::Receiver<Event>) {
        let (waiting, events) = mpsc::channel(MAX_WAITING);
        let said = Mutex::new(HashSet::new());
        (Self(Arc::new(Inner { waiting, said, clock, instance })), events)
    }

    /// Says something about a cluster.
    pub fn say(&self, caches: &Caches, cluster: &Name, occasion: &Occasion) {
        if let Some(object) = caches.clusters.get(cluster) {
            self.say_of::<ReplicatedCluster>(object.as_ref(), occasion);
        }
    }

    /// Says something about an object, if it was not said before.
    pub fn say_of<K: Cached>(&self, object: &K, occasion: &Occasion) {
        let uid = object.uid().unwrap_or_default();
        let mut said = self.0.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= MAX_REMEMBERED {
            said.clear();
        }
        if !said.insert((uid, occasion.reason, occasion.message.clone())) {
            return;
        }
        drop(said);
        self.tell_of(object, occasion);
    }

    /// Says something about an object each time that it is told to: for turns, which happen once each.
    pub fn tell_of<K: Cached>(&self, object: &K, occasion: &Occasion) {
        if self.0.waiting.try_send(self.event(object, occasion)).is_err() {
            tracing::warn!(
                reason = occasion.reason,
                message = occasion.message,
                "too many Events wait; this one is dropped"
            );
        }
    }

    fn event<K: Cached>(&self, object: &K, occasion: &Occasion) -> Event {
        let now = self.0.clock.now();
        let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
        Event {
            metadata: ObjectMeta {
                generate_name: Some(format!("{}-", object.name_any())),
                namespace: Some(namespace),
                ..ObjectMeta::default()
            },
            type_: Some(format!("{:?}", occasion.tone)),
            reason: Some(occasion.reason.to_owned()),
            note: Some(note(&occasion.message)),
            action: Some(occasion.reason.to_owned()),
            event_time: Some(MicroTime(now)),
            reporting_controller: Some(CONTROLLER.to_owned()),
            reporting_instance: Some(self.0.instance.clone()),
            regarding: Some(ObjectReference {
                api_version: Some(K::api_version(&()).into_owned()),
                kind: Some(K::kind(&()).into_owned()),
                name: Some(object.name_any()),
                namespace: object.namespace(),
                uid: object.uid(),
                resource_version: object.resource_version(),
                field_path: None,
            }),
            ..Event::default()
        }
    }
}

/// As much of a message as a note may hold.
fn note(message: &str) -> String {
    let mut bytes = 0;
    let fits = |c: &char| {
        bytes += c.len_utf8();
        bytes <= NOTE_MAX
    };
    message.chars().take_while(fits).collect()
}

/// Sends what heralds say, until there are none.
pub async fn send(door: Door, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        if let Err(error) = door.create_uncached(&event).await {
            let reason = event.reason.unwrap_or_default();
            tracing::warn!(%error, reason, "an Event could not be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A longer one would be refused, and nobody would hear of it.
    #[test]
    fn a_note_is_as_long_as_the_api_server_takes_it_in_whatever_script() {
        assert_eq!(note("short"), "short");
        assert_eq!(note(&"a".repeat(2 * NOTE_MAX)).len(), NOTE_MAX);
        let cut = note(&"\u{6f22}".repeat(NOTE_MAX));
        assert!(cut.len() <= NOTE_MAX && cut.len() > NOTE_MAX - '\u{6f22}'.len_utf8(), "{}", cut.len());
    }
}
