//! Who waits for changes. They are woken in the order in which they began to wait, so that a run can be repeated: with tokio's
//! `watch` that order is chance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use super::Revision;

/// Tells followers of the newest revision.
pub(super) struct Teller(Arc<Shared>);

/// Follows the newest revision.
pub struct Follower {
    shared: Arc<Shared>,
    seen: Revision,
}

struct Shared {
    at: AtomicU64,
    moved: Notify,
}

impl Teller {
    pub(super) fn new(at: Revision) -> Self {
        Self(Arc::new(Shared { at: AtomicU64::new(at), moved: Notify::new() }))
    }

    /// Tells of a revision, once.
    pub(super) fn tell(&self, revision: Revision) {
        if self.0.at.swap(revision, Ordering::AcqRel) != revision {
            self.0.moved.notify_waiters();
        }
    }

    /// Whether anyone follows.
    pub(super) fn is_followed(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Someone who follows from here on.
    pub(super) fn follow(&self) -> Follower {
        Follower { shared: self.0.clone(), seen: self.0.at.load(Ordering::Acquire) }
    }
}

impl Follower {
    /// Takes what has been told so far as known.
    pub fn mark_seen(&mut self) {
        self.seen = self.shared.at.load(Ordering::Acquire);
    }

    /// Whether something was told that is not known.
    pub fn has_moved(&self) -> bool {
        self.shared.at.load(Ordering::Acquire) != self.seen
    }

    /// Waits until something is told that is not known.
    pub async fn moved(&mut self) {
        let shared = self.shared.clone();
        loop {
            let moved = shared.moved.notified();
            tokio::pin!(moved);
            // From here on nothing is missed.
            moved.as_mut().enable();
            if self.has_moved() {
                return self.mark_seen();
            }
            moved.await;
        }
    }
}
