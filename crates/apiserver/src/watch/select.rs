//! Which objects a watch or a list is about, and what a change means to someone who sees only those.

use super::{Event, EventKind};
use crate::lifecycle::metadata;
use crate::request::selector::{Fields, Labels};
use crate::store::{Change, ChangeKind, Document};

/// Which objects of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// By labels.
    pub labels: Labels,
    /// By fields.
    pub fields: Fields,
}

impl Selection {
    /// Whether this object is selected.
    pub fn matches(&self, object: &Document) -> bool {
        if *self == Self::default() {
            return true;
        }
        let object = object.value();
        self.labels.matches(&object) && self.fields.matches(&object)
    }

    /// What a change is to someone who sees only what is selected: one that leaves the selection is gone, one that
    /// comes into it is new, and one that was never in it is not told.
    pub(super) fn event(&self, change: &Change) -> Option<Event> {
        let was = change.previous.as_ref().map(|stored| &stored.object).filter(|object| self.matches(object));
        let is = change.kind != ChangeKind::Deleted && self.matches(&change.object);
        let (kind, object) = match (was, is) {
            (None, true) => (EventKind::Added, change.object.clone()),
            (Some(_), true) => (EventKind::Modified, change.object.clone()),
            (Some(last), false) => (EventKind::Deleted, gone(change, last)),
            (None, false) => return None,
        };
        Some(Event { kind, object, revision: change.revision })
    }
}

/// What is told of an object that is gone: of a deleted one its last state, of one that left the selection the state
/// in which it was last seen; both at the version of the change.
fn gone(change: &Change, last_seen: &Document) -> Document {
    if change.kind == ChangeKind::Deleted {
        return change.object.clone();
    }
    let mut last = last_seen.value();
    metadata::set(&mut last, "resourceVersion", Some(change.revision.to_string().into()));
    Document::of(&last)
}
