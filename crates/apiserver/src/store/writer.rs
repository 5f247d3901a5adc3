//! The one thread that writes to disk: it takes all writes that wait, decides them one upon the other, makes them safe
//! with one sync, then makes them seen and answers.
//!
//! Nothing is answered before the sync, not even a refusal: it may rest on a change that is not yet safe.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc as std_mpsc};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::disk::Log;
use super::state::{Batch, Wish};
use super::{Change, Memory, Stored, WriteError};

/// The most writes that wait; whoever comes then waits for room. Several times what one sync takes along.
const QUEUE_LIMIT: usize = 1024;
/// The most writes that share a sync: the last of them waits for all.
const BATCH_WRITES: usize = 512;
/// The bytes from which on a batch takes no more writes, for the same reason.
const BATCH_BYTES: usize = 1 << 20;
/// How long dropping a store waits for its thread to let go of the directory. It is idle then, or in its last sync.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

struct Request {
    wish: Wish,
    answer: oneshot::Sender<Result<Stored, WriteError>>,
}

/// The way to the thread. When it is dropped, the thread ends, and lets go of the directory.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Request>>,
    /// Says, by breaking, that the thread has let go.
    ended: Mutex<std_mpsc::Receiver<()>>,
}

impl Writer {
    pub(super) fn start(log: Log, memory: Arc<Memory>) -> io::Result<Self> {
        let (queue, requests) = mpsc::channel(QUEUE_LIMIT);
        let (alive, ended) = std_mpsc::channel();
        std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            run(log, &memory, requests);
            drop(alive);
        })?;
        Ok(Self { queue: Some(queue), ended: Mutex::new(ended) })
    }

    pub(super) async fn write(&self, wish: Wish) -> Result<Stored, WriteError> {
        let queue = self.queue.as_ref().ok_or(WriteError::Closed)?;
        let (answer, answered) = oneshot::channel();
        queue.send(Request { wish, answer }).await.map_err(|_| WriteError::Closed)?;
        answered.await.map_err(|_| WriteError::Closed)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(CLOSE_WAIT);
    }
}

fn run(mut log: Log, memory: &Memory, mut requests: mpsc::Receiver<Request>) {
    let mut waiting = Vec::new();
    while let Some(first) = requests.blocking_recv() {
        let mut bytes = first.wish.object.room();
        waiting.push(first);
        while waiting.len() < BATCH_WRITES && bytes < BATCH_BYTES {
            let Ok(next) = requests.try_recv() else { break };
            bytes += next.wish.object.room();
            waiting.push(next);
        }
        commit(&mut log, memory, &mut waiting);
    }
}

fn commit(log: &mut Log, memory: &Memory, waiting: &mut Vec<Request>) {
    let mut answers = Vec::with_capacity(waiting.len());
    let changes = {
        let state = memory.read();
        let mut batch = Batch::upon(&state);
        for Request { wish, answer } in waiting.drain(..) {
            answers.push((answer, batch.decide(&state, wish)));
        }
        batch.changes
    };
    let written = if changes.is_empty() { Ok(()) } else { write(log, memory, &changes) };
    for (answer, decided) in answers {
        // Whoever asked may have gone; what was written stays written.
        let _ = answer.send(written.clone().and(decided));
    }
}

/// Makes these changes safe, then seen.
fn write(log: &mut Log, memory: &Memory, changes: &[Arc<Change>]) -> Result<(), WriteError> {
    // Only this thread changes the state, so what is kept now is kept until the changes are applied.
    let is_kept =
        |key: &_, revision| memory.read().objects.get(key).is_some_and(|stored| stored.revision == revision);
    match log.append(changes, is_kept) {
        Ok(()) => {
            memory.set_failure(None);
            memory.apply(changes);
            Ok(())
        }
        Err(error) => {
            memory.set_failure(Some(error.to_string()));
            Err(WriteError::Disk(error.to_string()))
        }
    }
}
