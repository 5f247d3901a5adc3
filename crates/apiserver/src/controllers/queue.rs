//! What is to be looked at: each thing once, however often it is asked for.

use std::collections::BTreeSet;

use crate::error::ApiError;

/// What is to be looked at. It holds each thing at most once, so that it is never larger than what there is.
pub(super) struct Queue<T> {
    waiting: BTreeSet<T>,
    failed: BTreeSet<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { waiting: BTreeSet::new(), failed: BTreeSet::new() }
    }
}

impl<T: Ord> Queue<T> {
    pub(super) fn add(&mut self, thing: T) {
        self.waiting.insert(thing);
    }

    /// Begins a round, with what failed in the last one.
    pub(super) fn begin(&mut self) {
        self.waiting.append(&mut self.failed);
    }

    pub(super) fn next(&mut self) -> Option<T> {
        self.waiting.pop_first()
    }

    /// Notes how it went.
    pub(super) fn done(&mut self, thing: T, outcome: &Result<(), ApiError>) {
        if outcome.is_err() {
            self.failed.insert(thing);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }
}
