//! How much at once, how large and how slow: every bound of the server, with its reason.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, Reason};

/// Connections kept open, if the machine allows that many files: more than any number of controllers and people on one
/// machine has, and a bound on memory (a TLS connection holds some 50 KB).
pub const MAX_CONNECTIONS: usize = 4096;
/// Files that are left for everything else when the machine allows few: the store, the standard streams, the runtime.
const SPARE_FILES: usize = 64;
/// Requests in work at once, watches not counted: kube-apiserver's 400 reading and 200 writing ones.
pub const MAX_REQUESTS: usize = 600;
/// Watches at once: each holds a position and a buffer, no queue.
pub const MAX_WATCHES: usize = 10_000;
/// How long a request waits for its turn before it is told to come back.
pub const TURN_WITHIN: Duration = Duration::from_secs(5);
/// When a client that was turned away may come back, in seconds; as kube-apiserver says it.
pub const RETRY_AFTER_SECONDS: u32 = 1;
/// The body of a request: as in kube-apiserver, twice what etcd takes.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;
/// How much of a body that is too large is still taken off the wire, so that the client reads the answer: one that
/// is closed upon while it writes does not.
pub const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;
/// The headers of a request: selectors and tokens are far shorter; kube-apiserver's is 1 MiB, which a stranger could
/// fill before the token is looked at.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;
/// Header lines of a request.
pub const MAX_HEADERS: usize = 128;
/// Requests on one HTTP/2 connection at once: what client-go assumes before it is told.
pub const MAX_STREAMS: u32 = 100;
/// How long a client may take over the TLS handshake: it is two round trips on loopback.
pub const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// How long a client may take from the handshake to the end of its first header; as in kube-apiserver.
pub const FIRST_REQUEST_WITHIN: Duration = Duration::from_secs(32);
/// How long a connection stays open without a request: longer than clients keep unused ones (90 s), so that it is they
/// who close them, and no request is sent into a closing connection.
pub const IDLE_FOR: Duration = Duration::from_secs(120);
/// How long a request may take, its body included; as in kube-apiserver.
pub const REQUEST_WITHIN: Duration = Duration::from_secs(60);
/// How long an answer that is not a watch may take to be read. The largest list takes seconds.
pub const ANSWER_READ_WITHIN: Duration = Duration::from_secs(300);
/// How long a client may take nothing at all of what is written to it.
pub const STALLED_FOR: Duration = Duration::from_secs(60);
/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
pub const PING_EVERY: Duration = Duration::from_secs(30);
/// See [`PING_EVERY`].
pub const PING_WITHIN: Duration = Duration::from_secs(20);
/// How often open connections are looked at for these times.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long requests in work may take to end when the server stops; watches are ended at once.
pub const STOP_WITHIN: Duration = Duration::from_secs(10);

/// The bounds that tests make small; everybody else takes the defaults.
#[derive(Clone, Debug)]
pub struct Limits {
    /// See [`MAX_CONNECTIONS`].
    pub connections: usize,
    /// See [`MAX_REQUESTS`].
    pub requests: usize,
    /// See [`MAX_WATCHES`].
    pub watches: usize,
    /// See [`TURN_WITHIN`].
    pub turn_within: Duration,
    /// See [`HANDSHAKE_WITHIN`].
    pub handshake_within: Duration,
    /// See [`FIRST_REQUEST_WITHIN`].
    pub first_request_within: Duration,
    /// See [`IDLE_FOR`].
    pub idle_for: Duration,
    /// See [`REQUEST_WITHIN`].
    pub request_within: Duration,
    /// See [`ANSWER_READ_WITHIN`].
    pub answer_read_within: Duration,
    /// See [`STALLED_FOR`].
    pub stalled_for: Duration,
    /// See [`LOOK_EVERY`].
    pub look_every: Duration,
    /// See [`STOP_WITHIN`].
    pub stop_within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: MAX_CONNECTIONS.min(files_allowed().saturating_sub(SPARE_FILES)).max(1),
            requests: MAX_REQUESTS,
            watches: MAX_WATCHES,
            turn_within: TURN_WITHIN,
            handshake_within: HANDSHAKE_WITHIN,
            first_request_within: FIRST_REQUEST_WITHIN,
            idle_for: IDLE_FOR,
            request_within: REQUEST_WITHIN,
            answer_read_within: ANSWER_READ_WITHIN,
            stalled_for: STALLED_FOR,
            look_every: LOOK_EVERY,
            stop_within: STOP_WITHIN,
        }
    }
}

/// How many files this process may have open; a number that is too high if it cannot be learned.
fn files_allowed() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(usize::MAX)
}

/// The turns of requests and watches.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    requests: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    within: Duration,
}

impl Turns {
    pub(super) fn new(limits: &Limits) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        let (requests, watches) = (semaphore(limits.requests), semaphore(limits.watches));
        Self { requests, watches, within: limits.turn_within }
    }

    /// A turn for as long as it is held. Requests are short, so one waits a little; watches last, so it would wait in vain.
    pub(super) async fn take(&self, watch: bool) -> Result<OwnedSemaphorePermit, ApiError> {
        if watch {
            let free = Arc::clone(&self.watches).try_acquire_owned();
            return free.map_err(|_| come_back("Too many watches, please try again later."));
        }
        let turn = tokio::time::timeout(self.within, Arc::clone(&self.requests).acquire_owned()).await;
        match turn {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(come_back("Too many requests, please try again later.")),
        }
    }
}

fn come_back(message: &str) -> ApiError {
    let error = ApiError::new(Reason::TooManyRequests, message);
    ApiError { retry_after: Some(RETRY_AFTER_SECONDS), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_how_many_files_there_may_be() {
        let allowed = files_allowed();
        assert!(allowed > SPARE_FILES, "{allowed}");
        assert!(Limits::default().connections <= MAX_CONNECTIONS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_its_turn_and_then_comes_back_later() {
        let turns = Turns::new(&Limits { requests: 1, watches: 1, ..Limits::default() });
        let first = turns.take(false).await.unwrap();
        let _watch = turns.take(true).await.unwrap();
        let (second, ()) = tokio::join!(turns.take(false), async move {
            tokio::task::yield_now().await;
            drop(first);
        });
        let _second = second.unwrap();
        let refused = turns.take(false).await.unwrap_err();
        assert_eq!((refused.reason, refused.retry_after), (Reason::TooManyRequests, Some(1)));
        assert_eq!(turns.take(true).await.unwrap_err().message, "Too many watches, please try again later.");
    }
}
