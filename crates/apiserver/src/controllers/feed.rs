//! The changes of all objects, in their order.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use crate::server::Server;
use crate::store::{ChangeKind, Document, Follower, Key, Revision, Store};

/// An object that is there, changed, or is gone.
pub(super) struct Seen {
    pub(super) key: Key,
    pub(super) gone: bool,
    document: Document,
    object: OnceLock<Value>,
}

impl Seen {
    fn new(key: Key, gone: bool, document: Document) -> Self {
        Self { key, gone, document, object: OnceLock::new() }
    }

    /// The object; of one that is gone its last state.
    pub(super) fn object(&self) -> &Value {
        self.object.get_or_init(|| self.document.value())
    }

    /// Whether its text has this word: most objects need not be read to know that they have no owners.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.document.mentions(word)
    }

    pub(super) fn is_of(&self, resource: &str) -> bool {
        *self.key.resource == *resource
    }
}

/// What there is to be told.
pub(super) enum News {
    /// Everything that is there: forget what was told before.
    Everything(Vec<Seen>),
    /// What changed since.
    Changes(Vec<Seen>),
}

/// A position in the history of the store.
pub(super) struct Feed {
    store: Store,
    moved: Follower,
    position: Option<Revision>,
}

impl Feed {
    pub(super) fn new(server: &Server) -> Self {
        let store = server.store().clone();
        let moved = store.follow();
        Self { store, moved, position: None }
    }

    /// What happened since the last time; everything at first, and when that is not known any more.
    pub(super) fn news(&mut self) -> News {
        // Seen before reading, so that a change between reading and waiting is not slept through.
        self.moved.mark_seen();
        if let Some(Ok((changes, revision))) = self.position.map(|after| self.store.all_changes_after(after))
        {
            self.position = Some(revision);
            let seen = changes.iter().map(|change| {
                Seen::new(Key::clone(&change.key), change.kind == ChangeKind::Deleted, change.object.clone())
            });
            return News::Changes(seen.collect());
        }
        let snapshot = self.store.all();
        self.position = Some(snapshot.revision);
        let seen = snapshot
            .objects
            .into_iter()
            .map(|(key, stored)| Seen::new(Key::clone(&key), false, stored.object));
        News::Everything(seen.collect())
    }

    /// Waits until there are news, or for this long.
    pub(super) async fn wait(&mut self, at_most: Option<Duration>) {
        // Others get their turn first: what they do now need not be looked at one by one.
        tokio::task::yield_now().await;
        let moved = self.moved.moved();
        match at_most {
            None => moved.await,
            Some(time) => drop(tokio::time::timeout(time, moved).await),
        }
    }
}
