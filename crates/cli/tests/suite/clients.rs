//! A client that writes all the time and remembers what was acknowledged.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use muster_ledger::client::{Appended, Client};

use super::mariadb::{Account, Session};
use super::{Entry, LOOK_EVERY};

/// How long it waits before it tries again what was refused.
const PAUSE: Duration = Duration::from_millis(20);
/// How many rows one client of Galera can write: each has numbers of its own.
const ROWS: u64 = 1 << 32;

/// Where a client writes to.
pub(crate) enum Server {
    Ledger { address: String, who: String },
    Galera(Account),
}

#[derive(Default)]
struct Shared {
    /// It is to write no more.
    enough: AtomicBool,
    /// It writes no more.
    ended: AtomicBool,
    count: AtomicUsize,
    acknowledged: Mutex<Vec<Entry>>,
}

/// The client. It ends when it is dropped.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Writes to this server from now on.
    pub(crate) fn start(server: Server) -> Self {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || match server {
            Server::Ledger { address, who } => write_ledger(&own, &address, &who),
            Server::Galera(account) => write_galera(&own, &account),
        });
        Self { shared, thread: Some(thread) }
    }

    /// How many were acknowledged.
    pub(crate) fn count(&self) -> usize {
        self.shared.count.load(Ordering::Relaxed)
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
    pub(crate) fn acknowledged(&self) -> Vec<Entry> {
        self.acknowledgements().so_far()
    }

    /// The same for whoever wants to know later, even when it writes no more.
    pub(crate) fn acknowledgements(&self) -> Acknowledgements {
        Acknowledgements(Arc::clone(&self.shared))
    }

    /// Writes no more; all that was ever acknowledged.
    pub(crate) fn stop(mut self) -> Vec<Entry> {
        self.end();
        self.acknowledged()
    }

    /// Waits for the last answer, for which it waits no longer than half a minute: whoever asks afterwards is told of all.
    fn end(&mut self) {
        self.shared.enough.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the client panicked");
        }
        self.shared.ended.store(true, Ordering::Relaxed);
    }
}

/// What a client was told.
pub(crate) struct Acknowledgements(Arc<Shared>);

impl Acknowledgements {
    pub(crate) fn so_far(&self) -> Vec<Entry> {
        self.0.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there will be no more: the client is gone.
    pub(crate) fn are_all(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn goes_on(&self) -> bool {
        !self.enough.load(Ordering::Relaxed)
    }

    fn is_acknowledged(&self, entry: Entry) {
        let mut all = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(entry);
        self.count.store(all.len(), Ordering::Relaxed);
    }
}

fn write_ledger(shared: &Shared, address: &str, who: &str) {
    let (mut client, mut number) = (None, 0_u64);
    while shared.goes_on() {
        let connected = client.take().map_or_else(|| Client::connect(address), Ok);
        number += 1;
        let entry = format!("{who} {number}");
        let answer = connected.and_then(|mut ledger| ledger.append(&entry).map(|answer| (ledger, answer)));
        match answer {
            Ok((ledger, Appended::Acknowledged(sequence))) => {
                client = Some(ledger);
                shared.is_acknowledged((sequence, entry));
            }
            // Refused, unknown or cut off: it may be there or not. The next one is another.
            _ => std::thread::park_timeout(PAUSE),
        }
    }
}

/// Rows with numbers that no other client of this process uses.
fn write_galera(shared: &Shared, account: &Account) {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let mut number = WRITERS.fetch_add(1, Ordering::Relaxed) * ROWS;
    while shared.goes_on() {
        let mut session = Session::open(account);
        // A row that was not acknowledged may be there or not; its number is not used again.
        loop {
            number += 1;
            if !shared.goes_on() || !session.insert(number) {
                break;
            }
            shared.is_acknowledged((number, String::new()));
        }
        drop(session);
        std::thread::park_timeout(PAUSE);
    }
}
