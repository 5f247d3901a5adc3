//! What goes wrong with requests of operators: what a test asks for next, or anything, by chance.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::{Fault, Faults, Seen};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The user agent of the person, whose requests never fail.
pub(crate) const PERSON: &str = "person";

/// Decides what goes wrong with requests of operators.
#[derive(Default)]
pub(crate) struct Trouble {
    next: Mutex<VecDeque<(&'static str, Fault)>>,
    chance: Mutex<Option<StdRng>>,
}

impl Trouble {
    /// The next request with this verb meets this.
    pub(crate) fn next(&self, verb: &'static str, fault: Fault) {
        self.next.lock().unwrap().push_back((verb, fault));
    }

    /// Whether all that was asked for has happened.
    pub(crate) fn is_over(&self) -> bool {
        self.next.lock().unwrap().is_empty()
    }

    /// From now on anything may go wrong.
    pub(crate) fn begin(&self, seed: u64) {
        *self.chance.lock().unwrap() = Some(StdRng::seed_from_u64(seed));
    }

    /// From now on nothing goes wrong.
    pub(crate) fn end(&self) {
        *self.chance.lock().unwrap() = None;
    }
}

impl Faults for Trouble {
    fn request(&self, request: &Seen) -> Fault {
        if request.user_agent == PERSON {
            return Fault::None;
        }
        let mut next = self.next.lock().unwrap();
        if let Some(at) = next.iter().position(|(verb, _)| *verb == request.verb) {
            return next.remove(at).unwrap().1;
        }
        self.chance.lock().unwrap().as_mut().map_or(Fault::None, any)
    }
}

fn any(chance: &mut StdRng) -> Fault {
    let broken = ApiError::new(Reason::InternalError, "broken");
    match chance.random_range(0..20) {
        0 | 1 => Fault::Delay(Duration::from_millis(chance.random_range(1..9_000))),
        2 => Fault::Before(broken),
        3 => Fault::After(broken),
        4 => Fault::LostBefore,
        5 => Fault::LostAfter,
        6 => Fault::Conflict,
        7 => Fault::Stale(chance.random_range(1..8)),
        _ => Fault::None,
    }
}
