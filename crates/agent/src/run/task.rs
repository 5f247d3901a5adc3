//! A command that is being done: who waits for it, and how it is cut off.

use std::sync::Arc;

use muster_core::manager::command::{Action, Answer};
use muster_core::manager::stamp::Stamp;
use tokio::sync::{Notify, watch};

/// A command that is being done.
#[derive(Clone)]
pub struct Task {
    /// Its number; a later command for the same thing takes it over.
    pub stamp: Stamp,
    /// Whether it evacuates the member, which may take a day: other commands do not wait for that.
    pub leaves: bool,
    /// Cuts it off.
    pub cut: Arc<Notify>,
    /// What came of it.
    pub answer: watch::Receiver<Option<Answer>>,
}

/// What a command does about the one that is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// It is done at the same time: it needs nothing but remembering.
    AtOnce,
    /// It asks for what is being done already.
    TakeOver,
    /// It ends what is being done.
    CutOff,
    /// It comes too early.
    Wait,
}

/// What this action does about a command that is being done. A start is never followed by anything but a stop until it is answered: a
/// later answer would say that it is settled, while it is not.
pub fn beside(leaves: bool, action: &Action) -> Beside {
    match action {
        Action::Stop => Beside::CutOff,
        Action::Leave if leaves => Beside::TakeOver,
        Action::MarkLeft
        | Action::TakeRoster
        | Action::KeepRoster
        | Action::Remember(_)
        | Action::Reserve(_)
        | Action::Follow(_)
            if leaves =>
        {
            Beside::AtOnce
        }
        _ if leaves => Beside::CutOff,
        _ => Beside::Wait,
    }
}

impl Task {
    /// Waits for its end. None: it ended without one, which does not happen.
    pub async fn answered(mut self) -> Option<Answer> {
        let answer = self.answer.wait_for(Option::is_some).await.ok()?;
        *answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stop_comes_beside_a_start_and_leaving_holds_up_nothing() {
        assert_eq!(beside(false, &Action::Stop), Beside::CutOff);
        assert_eq!(beside(false, &Action::TakeRoster), Beside::Wait);
        assert_eq!(beside(false, &Action::Lead), Beside::Wait);
        assert_eq!(beside(true, &Action::Stop), Beside::CutOff);
        assert_eq!(beside(true, &Action::Leave), Beside::TakeOver);
        assert_eq!(beside(true, &Action::Remember(3)), Beside::AtOnce);
        assert_eq!(beside(true, &Action::Promote), Beside::CutOff);
    }
}
