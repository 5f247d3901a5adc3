//! What goes wrong between an operator and an agent, as a test decides for each request.

use std::time::Duration;

use muster_protocol::{Command, Instruction};

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
