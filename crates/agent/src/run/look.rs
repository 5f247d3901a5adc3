//! The beginning of a run: until nothing of an earlier one lives, the agent says that it does not know.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::agent::{Agent, Inner};
use super::live::Stage;
use crate::log::say;
use crate::memory::Memory;
use crate::memory::store::{Found, Store};
use crate::process::{leftovers, lock};

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(200);

impl Agent {
    /// Becomes the only agent on the volume, ends what an earlier one left, and reads the data. `fresh` gives names that were never given.
    pub async fn begin(&self, volume: PathBuf, fresh: fn() -> String) -> std::io::Result<()> {
        let inner = &self.0;
        let mut store = open(volume).await?;
        let (peeked, peeking) = blocking(move || (store.peek(), store)).await?;
        store = peeking;
        if let Some(memory) = peeked {
            inner.change(|live| live.memory = memory.resumed());
        }
        inner.be_alone(&store).await;
        let (found, store) = blocking(move || {
            let found = store.load();
            (found, store)
        })
        .await?;
        inner.own(store).await;
        inner.remember(found, fresh).await;
        inner.clear().await;
        inner.read_data().await;
        inner.change(|live| live.stage = Stage::Settled);
        Ok(())
    }
}

async fn open(volume: PathBuf) -> std::io::Result<Store> {
    blocking(move || Store::open(&volume)).await?
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)
}

impl Inner {
    /// Waits until no other agent lives on the volume.
    async fn be_alone(&self, store: &Store) {
        let mut said = false;
        loop {
            let held = lock::try_alone(&store.agent_lock());
            match held {
                Ok(Some(held)) => {
                    *self.alone.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(held);
                    return;
                }
                Ok(None) if !said => say!("another agent holds this volume; waiting for its end"),
                Err(error) if !said => say!("the volume cannot be locked: {error}"),
                _ => {}
            }
            said = true;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Takes in what was found. What could not be read is never guessed: the data then counts for nothing.
    async fn remember(self: &Arc<Self>, found: Found, fresh: fn() -> String) {
        let (known, wanted) = match found {
            Found::Memory(memory) => (Some(*memory.clone()), memory.resumed()),
            Found::Nothing => (None, Memory::new(fresh())),
            Found::Unreadable(why) => {
                say!("{why}");
                (None, Memory { lost: true, ..Memory::new(fresh()) })
            }
        };
        let same = known.as_ref() == Some(&wanted);
        let shown = wanted.clone();
        self.change(|live| live.memory = shown);
        if !same {
            // A disk that does not take it now is tried again with the first epoch.
            let _ = self.commit(move |_| Some(wanted)).await;
        }
    }

    /// Ends what an earlier run, or the application, has left behind; returns when nothing lives.
    pub(super) async fn clear(self: &Arc<Self>) {
        let mut pause = Duration::from_millis(5);
        loop {
            let recorded = self.live().memory.process.clone();
            if self.settings.alone {
                leftovers::orphans(|pid| self.family.has(pid), true);
            }
            let lock = self.process_lock.clone();
            let cleared = blocking(move || leftovers::clear(&lock, recorded.as_ref())).await;
            match cleared.and_then(std::convert::identity) {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => say!("what an earlier run left cannot be looked for: {error}"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE);
        }
        // It is gone; written down late it is found gone once more.
        let forgotten = |memory: &Memory| Memory { process: None, ..memory.clone() };
        let _ = self.commit(move |live| live.memory.process.is_some().then(|| forgotten(&live.memory))).await;
    }
}
