//! What every part of the operator works with.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use muster_core::manager::stamp::Stamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;

use crate::agents::{Dial, Limits};
use crate::cache::Caches;
use crate::clock::SharedClock;
use crate::door::Door;
use crate::events::Herald;
use crate::key::Name;
use crate::memory::Memories;
use crate::metrics::Metrics;
use crate::queue::Queue;

/// What every part of the operator works with. Shared by all.
pub struct Context {
    /// The one door to the API server.
    pub door: Door,
    /// The one namespace that is looked after; none for all.
    pub namespace: Option<String>,
    /// What the API server told.
    pub caches: Arc<Caches>,
    /// What is to be done.
    pub queue: Queue,
    /// What is known of each cluster besides.
    pub memories: Memories,
    /// Who tells people.
    pub herald: Herald,
    /// The time of day.
    pub clock: SharedClock,
    /// The way to agents.
    pub dial: Arc<dyn Dial>,
    /// How long agents are waited for.
    pub agent_limits: Limits,
    /// The image that agents are copied from.
    pub agent_image: String,
    /// Chance, seeded where a run must repeat itself.
    pub chance: Chance,
    /// The numbers of commands.
    pub numbers: Numbers,
    /// The order in which words about requests were spoken.
    pub words: Count,
    /// The namespaces that other operators look after; none while that is not known, and then all are left alone.
    pub elsewhere: watch::Receiver<Option<Arc<BTreeSet<String>>>>,
    /// What can be measured.
    pub metrics: Metrics,
}

impl Context {
    /// Whether another operator looks after this namespace.
    pub fn is_elsewhere(&self, cluster: &Name) -> bool {
        self.elsewhere.borrow().as_ref().is_none_or(|others| others.contains(&cluster.namespace))
    }
}

/// Chance that everyone shares.
pub struct Chance(Mutex<StdRng>);

impl Chance {
    /// From this seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }

    /// From the operating system.
    pub fn from_system() -> Self {
        Self(Mutex::new(StdRng::from_os_rng()))
    }

    /// A number that nobody can guess.
    pub fn number(&self) -> u64 {
        self.with(Rng::random)
    }

    /// A number from 0 to 1, to spread things in time.
    pub fn fraction(&self) -> f64 {
        self.with(Rng::random)
    }

    /// Fills these bytes.
    pub fn fill(&self, bytes: &mut [u8]) {
        self.with(|rng| rng.fill(bytes));
    }

    /// A generator of its own, for keys.
    pub fn generator(&self) -> StdRng {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        StdRng::from_seed(seed)
    }

    fn with<T>(&self, draw: impl FnOnce(&mut StdRng) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The numbers of commands: they grow for as long as this process lives, over all managers.
#[derive(Default)]
pub struct Numbers(AtomicU64);

impl Numbers {
    /// The next stamp under this epoch.
    pub fn next(&self, epoch: u64) -> Stamp {
        Stamp::new(epoch, self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A count that only grows: it tells what came later where clocks are too coarse.
#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    /// The next number.
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
