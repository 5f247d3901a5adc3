//! A client that writes all the time and remembers what was acknowledged.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use muster_ledger::client::{Appended, Client};

use super::{LOOK_EVERY, PATIENCE};

/// How long it waits before it tries again what was refused.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Shared {
    enough: AtomicBool,
    count: AtomicUsize,
    acknowledged: Mutex<Vec<(u64, String)>>,
}

/// The client. It ends when it is dropped.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Writes to this address from now on.
    pub(crate) fn start(address: String, who: String) -> Self {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || write(&own, &address, &who));
        Self { shared, thread: Some(thread) }
    }

    /// How many were acknowledged.
    pub(crate) fn count(&self) -> usize {
        self.shared.count.load(Ordering::Relaxed)
    }

    /// Waits until so many more were acknowledged: clients are served.
    pub(crate) fn until_more(&self, more: usize) {
        let (wanted, began) = (self.count() + more, Instant::now());
        while self.count() < wanted {
            assert!(
                began.elapsed() < PATIENCE,
                "waited for {more} more entries: {} of {wanted}",
                self.count()
            );
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Gives it the time to get so many more through, but no longer than that: where nobody serves none will.
    pub(crate) fn gets_through(&self, more: usize, limit: Duration) {
        let (wanted, began) = (self.count() + more, Instant::now());
        while self.count() < wanted {
            let Some(left) = limit.checked_sub(began.elapsed()) else { return };
            std::thread::park_timeout(left.min(LOOK_EVERY));
        }
    }

    /// All that was acknowledged so far.
    pub(crate) fn acknowledged(&self) -> Vec<(u64, String)> {
        self.acknowledgements().so_far()
    }

    /// The same for whoever wants to know later, even when it writes no more.
    pub(crate) fn acknowledgements(&self) -> Acknowledgements {
        Acknowledgements(Arc::clone(&self.shared))
    }
}

/// What a client was told.
pub(crate) struct Acknowledgements(Arc<Shared>);

impl Acknowledgements {
    pub(crate) fn so_far(&self) -> Vec<(u64, String)> {
        self.0.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.enough.store(true, Ordering::Relaxed);
        // It may wait for an answer for a while; what it gets then is nobody's business any more.
        drop(self.thread.take());
    }
}

fn write(shared: &Shared, address: &str, who: &str) {
    let (mut client, mut number) = (None, 0_u64);
    while !shared.enough.load(Ordering::Relaxed) {
        let connected = client.take().map_or_else(|| Client::connect(address), Ok);
        number += 1;
        let entry = format!("{who} {number}");
        let answer = connected.and_then(|mut ledger| ledger.append(&entry).map(|answer| (ledger, answer)));
        match answer {
            Ok((ledger, Appended::Acknowledged(sequence))) => {
                client = Some(ledger);
                let mut all = shared.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((sequence, entry));
                shared.count.store(all.len(), Ordering::Relaxed);
            }
            // Refused, unknown or cut off: it may be there or not. The next one is another.
            _ => std::thread::park_timeout(PAUSE),
        }
    }
}
