//! What one connection is doing, so that it can be told when it does nothing for too long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::Limits;

/// A connection as others see it.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    /// Told when the connection has to make room.
    pub(super) evicted: Notify,
}

#[derive(Debug)]
struct State {
    /// Whether the token was shown on it.
    known: bool,
    /// Whether somebody without the token asked something.
    stranger: bool,
    /// When the last request ended, or the connection began.
    quiet_since: Instant,
    /// The requests in work, with the moment by which each has to be over; none for a watch.
    open: BTreeMap<u64, Option<Instant>>,
    next: u64,
}

/// What is to be done about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Fine,
    /// Nobody uses it: say goodbye.
    Unused,
    /// It is being held: close it.
    Held,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        let state = State {
            known: false,
            stranger: false,
            quiet_since: Instant::now(),
            open: BTreeMap::new(),
            next: 0,
        };
        Arc::new(Self { state: Mutex::new(state), evicted: Notify::new() })
    }

    /// Somebody showed the token.
    pub(super) fn is_known(&self) -> bool {
        self.lock().known
    }

    /// Somebody asked without the token: the connection ends after the answer.
    pub(super) fn refuse(&self) {
        self.lock().stranger = true;
    }

    /// A request with the token begins. It lasts until what is returned is dropped, at most until `over_by`.
    pub(super) fn begin(self: &Arc<Self>, over_by: Option<Instant>) -> Sending {
        let mut state = self.lock();
        state.known = true;
        let id = state.next;
        state.next += 1;
        state.open.insert(id, over_by);
        Sending { activity: Arc::clone(self), id }
    }

    /// What is to be done about it now.
    pub(super) fn verdict(&self, limits: &Limits) -> Verdict {
        let (state, now) = (self.lock(), Instant::now());
        let quiet = now.saturating_duration_since(state.quiet_since);
        if state.open.values().flatten().any(|over_by| *over_by <= now) {
            Verdict::Held
        } else if state.stranger {
            Verdict::Unused
        } else if state.open.is_empty() && !state.known && quiet >= limits.first_request_within {
            Verdict::Held
        } else if state.open.is_empty() && quiet >= limits.idle_for {
            Verdict::Unused
        } else {
            Verdict::Fine
        }
    }

    /// Every change is whole when the lock is given back.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is not over.
#[derive(Debug)]
pub(super) struct Sending {
    activity: Arc<Activity>,
    id: u64,
}

impl Drop for Sending {
    fn drop(&mut self) {
        let mut state = self.activity.lock();
        state.open.remove(&self.id);
        state.quiet_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_used_or_it_goes() {
        let limits = Limits::default();
        let activity = Activity::new();
        assert_eq!(activity.verdict(&limits), Verdict::Fine);
        tokio::time::advance(limits.first_request_within).await;
        assert_eq!(activity.verdict(&limits), Verdict::Held, "it never asked anything");

        let watch = activity.begin(None);
        tokio::time::advance(limits.idle_for * 10).await;
        assert_eq!(activity.verdict(&limits), Verdict::Fine, "a watch may last");
        drop(watch);
        assert_eq!(activity.verdict(&limits), Verdict::Fine);
        tokio::time::advance(limits.idle_for).await;
        assert_eq!(activity.verdict(&limits), Verdict::Unused);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_holds_the_connection_for_a_while_only() {
        let limits = Limits::default();
        let activity = Activity::new();
        let _sending = activity.begin(Some(Instant::now() + limits.answer_read_within));
        tokio::time::advance(limits.answer_read_within / 2).await;
        assert_eq!(activity.verdict(&limits), Verdict::Fine);
        tokio::time::advance(limits.answer_read_within / 2).await;
        assert_eq!(activity.verdict(&limits), Verdict::Held);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_gets_an_answer_and_goes() {
        let activity = Activity::new();
        activity.refuse();
        assert_eq!(activity.verdict(&Limits::default()), Verdict::Unused);
        assert!(!activity.is_known());
    }
}
