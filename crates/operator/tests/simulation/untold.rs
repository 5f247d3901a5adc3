//! A write of an operator of which it is not told: that very write, told apart from whatever others write to the same object. What
//! is lost of theirs nobody waits for.

use muster_apiserver::server::faults::Seen;
use muster_apiserver::store::{Change, Revision};
use muster_apiserver::watch::Event;

/// What an operator writes and is not told.
pub(crate) struct Untold {
    by: String,
    resource: String,
    name: Option<String>,
    /// What the write led to; none while it is under way.
    revision: Option<Revision>,
}

impl Untold {
    /// The write that is about to be made.
    pub(crate) fn of(write: &Seen) -> Self {
        Self {
            by: write.user_agent.clone(),
            resource: write.resource.clone(),
            name: write.name.clone(),
            revision: None,
        }
    }

    /// Whether the write is under way. It is done at once, so when anything else is asked for meanwhile it did nothing.
    pub(crate) fn is_under_way(&self) -> bool {
        self.revision.is_none()
    }

    /// Something was stored.
    pub(crate) fn see(&mut self, change: &Change) {
        let same = self.resource == *change.key.resource && self.name.as_ref() == Some(&change.key.name);
        if same && self.is_under_way() {
            self.revision = Some(change.revision);
        }
    }

    /// Whether this is the event of it, on its way to the writer: whoever comes after that one knows nothing of it, and would not
    /// ask.
    pub(crate) fn is(&self, watch: &Seen, event: &Event) -> bool {
        self.revision == Some(event.revision)
            && self.resource == watch.resource
            && self.by == watch.user_agent
    }
}
