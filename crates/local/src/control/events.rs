//! Events: news for people. What is lost on its way is in the objects all the same, so none holds anything up.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};

use super::bounded;

/// Longest note of an Event, as the API server has it.
const NOTE_MAX: usize = 1024;

/// Who says what happened. Cloning gives another handle to the same.
#[derive(Clone)]
pub(crate) struct Events(Recorder);

impl Events {
    /// Events from the controller of this name.
    pub(crate) fn new(client: Client, controller: &str) -> Self {
        Self(Recorder::new(client, Reporter::from(controller.to_owned())))
    }

    /// Something was done.
    pub(crate) async fn say(&self, of: &ObjectReference, reason: &str, note: String) {
        self.publish(of, EventType::Normal, reason, note).await;
    }

    /// Someone should look.
    pub(crate) async fn warn(&self, of: &ObjectReference, reason: &str, note: String) {
        self.publish(of, EventType::Warning, reason, note).await;
    }

    async fn publish(&self, of: &ObjectReference, type_: EventType, reason: &str, note: String) {
        let note = note.chars().take(NOTE_MAX).collect();
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note),
            action: reason.to_owned(),
            secondary: None,
        };
        if let Err(error) = bounded(self.0.publish(&event, of)).await {
            tracing::debug!(reason, %error, "an Event was lost");
        }
    }
}
