//! The work to be done: each key waits at most once, never runs beside itself, and rests after failures.
//!
//! A key that is added while it runs, runs again afterwards: what it was added for may have come after it looked. The queue
//! holds no more than one entry for each object there is, so it is as bounded as the caches.

pub mod backoff;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use self::backoff::{Failures, NEWS};
use crate::key::{Key, Name};

/// What becomes of a key after its pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing, until something changes.
    Rest,
    /// Another pass after this time, if nothing changes before.
    Again(Duration),
    /// The pass did not come to look at anything, so it neither failed nor succeeded: another one after this time, if nothing changes
    /// before.
    Later(Duration),
    /// The pass failed: another one after a pause that grows with each failure in a row.
    Retry,
}

impl Then {
    /// The same, but no later than this, where there is something to come back for.
    #[must_use]
    pub fn within(self, limit: Option<Duration>) -> Self {
        match (self, limit) {
            (Self::Rest, Some(limit)) => Self::Again(limit),
            (Self::Again(after), Some(limit)) => Self::Again(after.min(limit)),
            (Self::Later(after), Some(limit)) => Self::Later(after.min(limit)),
            (then, _) => then,
        }
    }
}

/// The keys that wait, and those that run.
#[derive(Clone, Default)]
pub struct Queue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    came: Notify,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Key>,
    /// How many of them there are of each kind.
    depths: BTreeMap<&'static str, usize>,
    waiting: BTreeSet<Key>,
    running: BTreeSet<Key>,
    /// Added while they ran.
    again: BTreeSet<Key>,
    /// When keys are due that wait for a time; one time for each.
    due: BTreeMap<Key, Instant>,
    timeline: BTreeSet<(Instant, Key)>,
    /// The versions that the last pass of a key gave to its own status, until they are told back.
    written: BTreeMap<Key, Vec<String>>,
    /// The versions of its own object that were told while a key ran.
    told: BTreeMap<Key, Vec<String>>,
    /// The keys that wait for the caches, by cluster.
    behind: BTreeMap<Name, BTreeSet<Key>>,
    /// The keys whose last pass failed.
    failing: BTreeMap<Key, Failing>,
    closed: bool,
}

/// A key whose last pass failed.
#[derive(Clone, Copy)]
struct Failing {
    failures: Failures,
    /// When that pass ended.
    at: Instant,
}

impl Queue {
    /// Nothing to do.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something about this key changed: it runs as soon as it can, whatever it waited for. If it failed a moment ago it
    /// rests until [`NEWS`] have passed since: changes may come all the time, and its own pass may be what leads to them.
    pub fn add(&self, key: Key) {
        let mut state = self.state();
        if let Some(until) = state.rests_until(&key) {
            state.bring_forward(key, until);
        } else {
            state.cancel_timer(&key);
            state.make_ready(key);
        }
        drop(state);
        self.0.came.notify_one();
    }

    /// The pass of this key, which runs, has written the status of its object, which has this version now.
    pub fn wrote(&self, key: &Key, version: String) {
        self.state().written.entry(key.clone()).or_default().push(version);
    }

    /// The object of this key has this version now. It runs, unless its own last pass only wrote its status: that pass knows
    /// already what it would find.
    pub fn changed(&self, key: Key, version: &str) {
        let mut state = self.state();
        if state.is_own(&key, version) {
            return;
        }
        if state.running.contains(&key) {
            // The answer to the write may come after what it led to.
            state.told.entry(key).or_default().push(version.to_owned());
            return;
        }
        drop(state);
        self.add(key);
    }

    /// This key waits for the caches to show what was written of this cluster.
    pub fn wait(&self, cluster: &Name, key: &Key) {
        self.state().behind.entry(cluster.clone()).or_default().insert(key.clone());
    }

    /// The caches show something new of this cluster: whoever waited for them looks again.
    pub fn moved(&self, cluster: &Name) {
        let waited = self.state().behind.remove(cluster).unwrap_or_default();
        for key in waited {
            self.add(key);
        }
    }

    /// The next key to work on; none once the queue is closed.
    pub async fn take(&self) -> Option<Key> {
        loop {
            let came = self.0.came.notified();
            tokio::pin!(came);
            came.as_mut().enable();
            let next_due = {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                state.collect_due(Instant::now());
                if let Some(key) = state.start_next() {
                    let more = !state.ready.is_empty() || !state.timeline.is_empty();
                    drop(state);
                    if more {
                        // Someone else looks after the rest, and after the next time.
                        self.0.came.notify_one();
                    }
                    return Some(key);
                }
                state.timeline.first().map(|(at, _)| *at)
            };
            match next_due {
                Some(at) => drop(tokio::time::timeout_at(at, came).await),
                None => came.await,
            }
        }
    }

    /// The pass of this key has ended. `chance`, from 0 to 1, spreads retries.
    pub fn done(&self, key: &Key, then: Then, chance: f64) {
        let mut state = self.state();
        state.running.remove(key);
        let told = state.told.remove(key).unwrap_or_default();
        let others = told.iter().filter(|version| !state.is_own(key, version)).count();
        let changed = state.again.remove(key) || others > 0;
        let pause = match then {
            Then::Retry => {
                let pause = state.failed(key, chance);
                // What came meanwhile came before the rest began, and is looked at no later than what comes in it.
                Some(if changed { pause.min(NEWS) } else { pause })
            }
            Then::Again(after) | Then::Later(after) if !changed => Some(after),
            Then::Again(_) | Then::Later(_) | Then::Rest => None,
        };
        if matches!(then, Then::Again(_) | Then::Rest) {
            state.failing.remove(key);
        }
        match pause {
            Some(pause) => state.set_timer(key.clone(), Instant::now() + pause),
            None if changed => state.make_ready(key.clone()),
            None => {}
        }
        drop(state);
        self.0.came.notify_one();
    }

    /// How many keys wait to run, those that wait for a time apart.
    pub fn depth(&self) -> usize {
        self.state().ready.len()
    }

    /// The same for each kind of which there ever were any.
    pub fn depths(&self) -> BTreeMap<&'static str, usize> {
        self.state().depths.clone()
    }

    /// Nothing is handed out any more.
    pub fn close(&self) {
        self.state().closed = true;
        self.0.came.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn make_ready(&mut self, key: Key) {
        if self.running.contains(&key) {
            self.again.insert(key);
        } else if self.waiting.insert(key.clone()) {
            *self.depths.entry(key.kind()).or_default() += 1;
            self.ready.push_back(key);
        }
    }

    /// Whether this version is one that the last pass of this key wrote. It is told once.
    fn is_own(&mut self, key: &Key, version: &str) -> bool {
        let Some(written) = self.written.get_mut(key) else { return false };
        let own = written.iter().position(|one| one == version);
        if let Some(own) = own {
            written.remove(own);
        }
        if written.is_empty() {
            self.written.remove(key);
        }
        own.is_some()
    }

    fn start_next(&mut self) -> Option<Key> {
        let key = self.ready.pop_front()?;
        self.waiting.remove(&key);
        if let Some(depth) = self.depths.get_mut(key.kind()) {
            *depth -= 1;
        }
        self.running.insert(key.clone());
        // By now the caches have shown what the last pass wrote; else this pass waits for that.
        self.written.remove(&key);
        Some(key)
    }

    /// Notes a failure of this key, and says how long it rests.
    fn failed(&mut self, key: &Key, chance: f64) -> Duration {
        let at = Instant::now();
        let failing =
            self.failing.entry(key.clone()).or_insert(Failing { failures: Failures::default(), at });
        failing.at = at;
        failing.failures.next_pause(chance)
    }

    /// Until when this key rests whatever happens, if it does.
    fn rests_until(&self, key: &Key) -> Option<Instant> {
        let until = self.failing.get(key)?.at + NEWS;
        let waits = self.due.contains_key(key);
        (waits && until > Instant::now()).then_some(until)
    }

    /// Has a key that waits for a time wait no longer than until this one.
    fn bring_forward(&mut self, key: Key, at: Instant) {
        let at = self.due.get(&key).map_or(at, |due| at.min(*due));
        self.set_timer(key, at);
    }

    fn set_timer(&mut self, key: Key, at: Instant) {
        self.cancel_timer(&key);
        self.timeline.insert((at, key.clone()));
        self.due.insert(key, at);
    }

    fn cancel_timer(&mut self, key: &Key) {
        if let Some(at) = self.due.remove(key) {
            self.timeline.remove(&(at, key.clone()));
        }
    }

    fn collect_due(&mut self, now: Instant) {
        while let Some((at, key)) = self.timeline.first().cloned() {
            if at > now {
                return;
            }
            self.cancel_timer(&key);
            self.make_ready(key);
        }
    }
}

#[cfg(test)]
mod tests;
