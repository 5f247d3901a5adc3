//! What an agent does with a command: whether it obeys, what it writes down first, and what is then to be done.
//!
//! All of it is pure, so that it can be held against the simulated agents that the rules were explored with. A command that needs nothing
//! but remembering is written once, with its answer. Any other is written down as begun (`pending`), done, and then answered.

use muster_api::names::{Action as EngineAction, Role};
use muster_core::manager::command::{Action, Answer, Command, Join, Judge, Verdict};
use muster_core::manager::report::Instance;
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::{Stamp, Term};

use super::{Known, Memory};

/// How many counts are remembered: the newest, and the one before it.
const RECORDED: usize = 2;

/// What an agent knows besides what it remembers.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Its member.
    pub member: &'a str,
    /// Its own run.
    pub instance: Instance,
    /// Whether its application runs.
    pub running: bool,
    /// What its data is.
    pub data: &'a Known,
    /// What it obeyed without being able to write it down: a stop on a full disk.
    pub unwritten: Option<Answer>,
}

impl Now<'_> {
    /// Whether this command is to be obeyed.
    pub fn judge(&self, memory: &Memory, command: &Command) -> Verdict {
        // What was begun has failed until it is answered; an answer that could not be written down is one all the same.
        let begun = memory.pending.map(|stamp| Answer { stamp, succeeded: false });
        let last = latest(latest(begun, memory.last), self.unwritten);
        let judge = Judge {
            member: self.member,
            instance: self.instance,
            epoch: memory.epoch.max(self.unwritten.map_or(0, |answer| answer.stamp.epoch)),
            last,
            empty: self.data.is_empty() && !memory.lost,
            left: memory.left,
        };
        judge.judge(command)
    }
}

/// The later of two answers; of two to the same command the other, which came later.
pub fn latest(one: Option<Answer>, other: Option<Answer>) -> Option<Answer> {
    [one, other].into_iter().flatten().max_by_key(|answer| answer.stamp)
}

/// What is written down before anything is done, and what is then done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// To be on disk first.
    pub memory: Memory,
    /// What follows.
    pub work: Work,
}

/// What a command asks an agent to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing but remembering; this is the answer, which is in the memory already.
    Done(Answer),
    /// Start the application.
    Start(Start),
    /// Make the running secondary primary in this term, by `promote` or by stopping and starting it.
    Promote(Term),
    /// Re-form the cluster around this member, in this term.
    Bootstrap(Term),
    /// Make the running primary secondary.
    Demote,
    /// Stop the application.
    Stop,
    /// Evacuate what only this member holds.
    Leave,
}

/// How to start the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// By which action of the engine.
    pub action: EngineAction,
    /// The role it is to have.
    pub role: Role,
    /// Whether it takes writes in a term of its own.
    pub leads: bool,
    /// The term it serves in, or that of the primary it is started for.
    pub term: Option<Term>,
    /// The history it belongs to, as far as the agent knows or may choose it.
    pub history: String,
    /// Whether a new history begins.
    pub forming: bool,
    /// Whether what is there is thrown away first.
    pub copy: bool,
}

/// What obeying this command means. `fresh` is a name that was never given: for a volume, or for a history.
pub fn plan(memory: &Memory, now: &Now<'_>, command: &Command, fresh: &str) -> Plan {
    let mut next = memory.clone();
    next.epoch = next.epoch.max(command.stamp.epoch);
    if matches!(&command.action, Action::Join(join) if join.copy) {
        // What was there is given up, and with it where it came from.
        (next.roster, next.ahead) = (None, None);
    }
    keep_roster(&mut next, command, now.member);
    let work = match act(&mut next, now, command.stamp, &command.action, fresh) {
        Ok(work) => {
            next.pending = Some(command.stamp);
            work
        }
        Err(succeeded) => {
            let answer = Answer { stamp: command.stamp, succeeded };
            next.answered(answer);
            Work::Done(answer)
        }
    };
    Plan { memory: next, work }
}

/// What came of work that was planned, remembered.
#[must_use]
pub fn done(memory: &Memory, work: &Work, answer: Answer) -> Memory {
    let mut next = memory.clone();
    next.answered(answer);
    if answer.succeeded && *work == Work::Leave {
        next.evacuated = true;
    }
    next
}

fn keep_roster(memory: &mut Memory, command: &Command, member: &str) {
    let known = memory.newest_roster();
    let newer = |roster: &&Roster| {
        known.is_none_or(|known| roster.is_at_least(known) && roster.version > known.version)
    };
    if let Some(roster) = command.roster.as_ref().filter(newer) {
        memory.id = roster.entry(member).map(|entry| entry.id).or(memory.id);
        memory.ahead = Some(roster.clone());
    }
    if command.action.counts_by_newest() {
        memory.roster = memory.ahead.take().or_else(|| memory.roster.take());
    }
}

/// The work, or the answer where there is none.
fn act(memory: &mut Memory, now: &Now<'_>, stamp: Stamp, action: &Action, fresh: &str) -> Result<Work, bool> {
    let running = now.running;
    match action {
        Action::Seed { forming } if !running => {
            let new = *forming || now.data.is_empty();
            Ok(Work::Start(reign(memory, now, stamp, EngineAction::Seed, new.then_some(fresh))))
        }
        Action::Lead if !running => Ok(Work::Start(reign(memory, now, stamp, EngineAction::Primary, None))),
        Action::Join(join) if !running => Ok(Work::Start(beside(memory, now, join, fresh))),
        Action::Start if !running => Ok(Work::Start(by_itself(memory, now))),
        // Where its data ends is not known, so no term can begin behind it.
        Action::Promote | Action::Bootstrap if now.data.position().is_none() => Err(false),
        Action::Promote if running => Ok(Work::Promote(begin_term(memory, now, stamp))),
        Action::Bootstrap if running => Ok(Work::Bootstrap(begin_term(memory, now, stamp))),
        Action::Demote if running => Ok(Work::Demote),
        Action::Stop => Ok(Work::Stop),
        Action::Leave => Ok(Work::Leave),
        Action::Follow(follow) if running => {
            memory.terms = follow.terms.clone();
            Err(true)
        }
        Action::MarkLeft => {
            memory.left = true;
            // What is written from now on it is not told: it would take an old count for the last one.
            memory.recorded.clear();
            memory.recorded_at = None;
            Err(true)
        }
        Action::TakeRoster | Action::KeepRoster => Err(true),
        Action::Remember(count) => {
            memory.recorded.push(*count);
            let excess = memory.recorded.len().saturating_sub(RECORDED);
            memory.recorded.drain(..excess);
            memory.recorded_at = Some(stamp);
            Err(true)
        }
        Action::Reserve(reserve) => {
            memory.reserved = *reserve;
            Err(true)
        }
        _ => Err(false),
    }
}

/// A new term on the data as it is.
fn begin_term(memory: &mut Memory, now: &Now<'_>, stamp: Stamp) -> Term {
    let term = Term::commanded(stamp);
    memory.terms.begin(term, now.data.sequence());
    memory.evacuated = false;
    memory.covered = false;
    term
}

fn history(now: &Now<'_>) -> String {
    now.data.position().map(|position| position.history.clone()).unwrap_or_default()
}

fn reign(memory: &mut Memory, now: &Now<'_>, stamp: Stamp, action: EngineAction, new: Option<&str>) -> Start {
    let term = Some(begin_term(memory, now, stamp));
    let history = new.map_or_else(|| history(now), str::to_owned);
    Start { action, role: Role::Primary, leads: true, term, history, forming: new.is_some(), copy: false }
}

fn beside(memory: &mut Memory, now: &Now<'_>, join: &Join, fresh: &str) -> Start {
    if join.copy {
        if memory.complete && !now.data.is_empty() {
            // Discarded data is another volume's: the voter that it was holds nothing any more.
            fresh.clone_into(&mut memory.volume);
        }
        memory.complete = false;
        memory.left = false;
        memory.lost = false;
    }
    memory.terms = join.terms.clone();
    memory.evacuated = false;
    // It is a part of what the primary has, or given up: the software may throw it away to copy everything.
    memory.covered = true;
    let history = if join.copy { join.history.clone() } else { history(now) };
    let action = match join.role {
        Role::Primary => EngineAction::Primary,
        Role::Secondary => EngineAction::Secondary,
    };
    Start {
        action,
        role: join.role,
        leads: join.role == Role::Primary,
        term: Some(join.term),
        history,
        forming: false,
        copy: join.copy,
    }
}

/// The software finds its place: beside whoever serves in the term that the volume knows.
fn by_itself(memory: &mut Memory, now: &Now<'_>) -> Start {
    memory.evacuated = false;
    Start {
        action: EngineAction::Secondary,
        role: Role::Secondary,
        leads: false,
        term: memory.terms.current(),
        history: history(now),
        forming: false,
        copy: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: Stamp = Stamp::new(1, 7);

    /// What a repeat of a command is told that was begun, and then answered without being able to write that down.
    fn repeated(unwritten: Option<Answer>) -> Verdict {
        let last = Some(Answer { stamp: Stamp::new(1, 6), succeeded: true });
        let memory = Memory { epoch: 1, last, pending: Some(BEGUN), ..Memory::new("volume".to_owned()) };
        let instance = Instance(7);
        let now = Now { member: "a", instance, running: false, data: &Known::Unreadable, unwritten };
        let command =
            Command { stamp: BEGUN, instance, member: "a".to_owned(), roster: None, action: Action::Stop };
        now.judge(&memory, &command)
    }

    #[test]
    fn a_repeat_is_told_what_came_of_it_even_if_that_could_not_be_written_down() {
        for succeeded in [true, false] {
            let answer = Answer { stamp: BEGUN, succeeded };
            assert_eq!(repeated(Some(answer)), Verdict::Repeat(answer));
        }
    }

    #[test]
    fn what_was_begun_and_never_answered_has_failed() {
        let failed = Verdict::Repeat(Answer { stamp: BEGUN, succeeded: false });
        assert_eq!(repeated(None), failed);
        let earlier = Answer { stamp: Stamp::new(1, 5), succeeded: true };
        assert_eq!(repeated(Some(earlier)), failed);
    }
}
