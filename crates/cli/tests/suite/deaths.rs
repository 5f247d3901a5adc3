//! The operator dies at times of chance, again and again, whatever it is about to do then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::World;

/// How long an operator leads at most: some of them long enough to come to an end with something. What it takes until one leads is more,
/// because nobody knows that the one before is dead.
const LEADS: u64 = 15_000;
/// How much longer anything may take then: for most of the time nobody leads, and many die before they have come to an end with anything.
const LONGER: u32 = 2;
/// How many let operators die at the moment.
static DYING: AtomicU32 = AtomicU32::new(0);

/// Whether operators die at the moment.
pub(crate) fn happen() -> bool {
    DYING.load(Ordering::Relaxed) != 0
}

/// How long something may take now that may take so long while nobody dies.
pub(super) fn patience(usual: Duration) -> Duration {
    usual * if happen() { LONGER } else { 1 }
}

/// While this is held.
pub(crate) struct OperatorsDie {
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<u32>>,
}

impl OperatorsDie {
    pub(crate) fn begin() -> Self {
        let given = std::env::var("MUSTER_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed: u64 = given.unwrap_or_else(rand::random);
        println!("MUSTER_SEED={seed}");
        DYING.fetch_add(1, Ordering::Relaxed);
        let enough = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&enough);
        let thread = thread::spawn(move || {
            let (mut chance, mut deaths) = (StdRng::seed_from_u64(seed), 0);
            let mut leader = World::shared().until_another_leads("");
            while lives(Duration::from_millis(chance.random_range(0..=LEADS)), &own) {
                World::shared().kill_operator();
                deaths += 1;
                leader = World::shared().until_another_leads(&leader);
            }
            deaths
        });
        Self { enough, thread: Some(thread) }
    }

    /// How many died. From now on none does.
    pub(crate) fn end(mut self) -> u32 {
        self.stop().unwrap()
    }

    fn stop(&mut self) -> Option<u32> {
        self.enough.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        DYING.fetch_sub(1, Ordering::Relaxed);
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for OperatorsDie {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits for so long; false if it is enough.
fn lives(time: Duration, enough: &AtomicBool) -> bool {
    let began = Instant::now();
    while let Some(left) = time.checked_sub(began.elapsed()) {
        if enough.load(Ordering::Relaxed) {
            return false;
        }
        thread::park_timeout(left);
    }
    !enough.load(Ordering::Relaxed)
}
