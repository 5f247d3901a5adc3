//! What goes wrong between an operator and an agent, as a test decides for each request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use muster_protocol::{Command, EPOCH_PATH, Instruction};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A request that is on its way to an agent.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which one it is, from 1.
    pub number: u64,
    /// The namespace of the member.
    pub namespace: String,
    /// The member.
    pub member: String,
    /// The path, without what was asked.
    pub path: String,
    /// The instruction, if it is one that makes sense.
    pub instruction: Option<Instruction>,
}

impl Seen {
    /// Whether it tells the epoch.
    pub fn is_epoch(&self) -> bool {
        self.path == EPOCH_PATH
    }

    /// The command, if it is one that makes sense.
    pub fn command(&self) -> Option<&Command> {
        self.instruction.as_ref().map(|instruction| &instruction.command)
    }
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// It never arrives, and the sender knows: the connection is refused.
    Refused,
    /// It never arrives, and the sender cannot know.
    Lost,
    /// It arrives this much later, whether or not the sender still waits.
    Late(Duration),
    /// It arrives, and its answer does not.
    AnswerLost,
    /// It arrives, and its answer comes this much later.
    AnswerLate(Duration),
    /// It arrives a second time, this much later.
    Repeated(Duration),
    /// The agent restarts before it arrives.
    RestartBefore,
    /// The agent obeys and restarts before it answers.
    RestartAfter,
    /// The machine loses its power after the agent obeyed and before it answers.
    PowerOffAfter,
}

/// Decides what goes wrong.
pub trait Faults: Send + Sync {
    /// What happens to this request.
    fn request(&self, seen: &Seen) -> Fault;
}

/// Nothing goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn request(&self, _: &Seen) -> Fault {
        Fault::None
    }
}

impl<F: Fn(&Seen) -> Fault + Send + Sync> Faults for F {
    fn request(&self, seen: &Seen) -> Fault {
        self(seen)
    }
}

/// Faults by chance, repeatable by their seed. Heartbeats and reports suffer less than commands do: a fleet in which nothing
/// is ever heard proves nothing.
pub struct RandomFaults {
    chance: Mutex<StdRng>,
    /// Of a thousand commands, how many suffer.
    commands: u32,
    /// Of a thousand other requests, how many suffer.
    others: u32,
}

impl RandomFaults {
    /// Of a thousand commands and of a thousand other requests, so many suffer.
    pub fn new(seed: u64, commands: u32, others: u32) -> Self {
        Self { chance: Mutex::new(StdRng::seed_from_u64(seed)), commands, others }
    }
}

/// The longest that something is late: longer than anyone waits for an answer.
const LATEST: u64 = 60_000;

impl Faults for RandomFaults {
    fn request(&self, seen: &Seen) -> Fault {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = if seen.instruction.is_some() { self.commands } else { self.others };
        if chance.random_range(0..1000) >= rate {
            return Fault::None;
        }
        let delay = Duration::from_millis(chance.random_range(1..LATEST));
        match chance.random_range(0..9) {
            0 => Fault::Refused,
            1 => Fault::Lost,
            2 => Fault::Late(delay),
            3 => Fault::AnswerLost,
            4 => Fault::AnswerLate(delay),
            5 => Fault::Repeated(delay),
            6 => Fault::RestartBefore,
            7 => Fault::RestartAfter,
            _ => Fault::None,
        }
    }
}
