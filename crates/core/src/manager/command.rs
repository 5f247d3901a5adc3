//! What the manager tells an agent to do, and which of it an agent obeys.

use muster_api::names::Role;
use serde::{Deserialize, Serialize};

use super::report::Instance;
use super::roster::Roster;
use super::stamp::{Stamp, Term};
use super::terms::TermList;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", content = "with", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Start the application as the first of the cluster, in a new term. `forming`: on nothing at all.
    Seed {
        /// Whether this makes a new history; refused where there is data.
        forming: bool,
    },
    /// Start the stopped application as the primary that the others will follow, in a new term.
    Lead,
    /// Start the application beside a serving primary, in that primary's term.
    Join(Join),
    /// Take over the primary's list of terms: the application runs beside it in one view, and was not started for it.
    Follow(Follow),
    /// Start the application; the software finds its place by itself.
    Start,
    /// Make the running secondary the primary, in a new term, once it applied all it received.
    Promote,
    /// Re-form a cluster whose running members have no quorum around this one, in a new term.
    Bootstrap,
    /// Make the running primary a secondary.
    Demote,
    /// Stop the application.
    Stop,
    /// Evacuate what only this member holds, and take it out of the software's own membership.
    Leave,
    /// Mark the volume as one that has left.
    MarkLeft,
    /// Keep this roster, and hand it to the application.
    TakeRoster,
    /// Keep this roster; the application counts by the one it has until it is told to take this one, or started.
    KeepRoster,
    /// Keep this count, which Muster is about to write as `restoreReplicas`.
    Remember(usize),
    /// Whether to leave alone the devices that are not part of the storage pool: nothing is allocated to a disabled member.
    Reserve(bool),
}

/// How to start beside a serving primary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Join {
    /// The role to start in.
    pub role: Role,
    /// The term of the primary it is started for.
    pub term: Term,
    /// The primary's history, which a full copy brings along.
    pub history: String,
    /// The primary's list of terms, which the joiner takes over.
    pub terms: TermList,
    /// Whether what the volume holds is thrown away and copied anew.
    pub copy: bool,
}

/// Whose term a running member takes over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Follow {
    /// The primary's term.
    pub term: Term,
    /// The primary's list of terms.
    pub terms: TermList,
}

impl Action {
    /// Whether it can leave an application running that did not run, or that had another role. Until such a command
    /// is answered nothing can be said about the member it went to.
    pub const fn starts(&self) -> bool {
        matches!(
            self,
            Self::Seed { .. } | Self::Lead | Self::Join(_) | Self::Start | Self::Promote | Self::Bootstrap
        )
    }

    /// Whether the application counts by the newest roster from then on.
    pub const fn counts_by_newest(&self) -> bool {
        self.starts() || matches!(self, Self::TakeRoster)
    }

    /// Whether the newest roster goes with it.
    pub const fn carries_roster(&self) -> bool {
        self.counts_by_newest() || matches!(self, Self::KeepRoster)
    }

    /// Whether it starts a term: the stamp of its command.
    pub const fn begins_term(&self) -> bool {
        matches!(self, Self::Seed { .. } | Self::Lead | Self::Promote | Self::Bootstrap)
    }

    /// The action in one word, for messages.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Seed { .. } => "seed",
            Self::Lead => "lead",
            Self::Join(_) => "join",
            Self::Follow(_) => "follow",
            Self::Start => "start",
            Self::Promote => "promote",
            Self::Bootstrap => "bootstrap",
            Self::Demote => "demote",
            Self::Stop => "stop",
            Self::Leave => "leave",
            Self::MarkLeft => "mark left",
            Self::TakeRoster => "take roster",
            Self::KeepRoster => "keep roster",
            Self::Remember(_) => "remember",
            Self::Reserve(_) => "reserve",
        }
    }
}

/// A command on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Command {
    /// Its number.
    pub stamp: Stamp,
    /// The run of the agent that it is meant for.
    pub instance: Instance,
    /// The member that it is meant for.
    pub member: String,
    /// The newest roster, if the action carries it.
    pub roster: Option<Roster>,
    /// What to do.
    pub action: Action,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The command.
    pub stamp: Stamp,
    /// Whether it succeeded. A start succeeds when the process runs; what it does then is in the reports.
    pub succeeded: bool,
}

/// What an agent knows when it judges a command.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// Its member.
    pub member: &'a str,
    /// Its own run.
    pub instance: Instance,
    /// The highest epoch it has seen, on disk or in memory.
    pub epoch: u64,
    /// The last command it obeyed, on disk or in memory: a stop obeyed on a full disk counts as well.
    pub last: Option<Answer>,
    /// Whether its volume is known to hold nothing.
    pub empty: bool,
    /// Whether its volume is marked as one that has left.
    pub left: bool,
}

/// What an agent does with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Obey: record it on disk, then do it.
    Obey,
    /// This very command was obeyed before: say again what became of it.
    Repeat(Answer),
    /// Refuse, and say why.
    Refuse(Refusal),
}

/// Why an agent refuses a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Refusal {
    /// It comes from a leader that was replaced.
    #[error("the command is of epoch {got}; this agent follows epoch {known}")]
    OldEpoch {
        /// The command's.
        got: u64,
        /// The agent's.
        known: u64,
    },
    /// A later command was obeyed already.
    #[error("command {got} is not newer than {last}, which was obeyed already")]
    OldNumber {
        /// The command's.
        got: Stamp,
        /// The last one obeyed.
        last: Stamp,
    },
    /// It was meant for an earlier run of this agent.
    #[error("the command is for another run of this agent")]
    OtherInstance,
    /// It was meant for another member.
    #[error("the command is for another member")]
    OtherMember,
    /// The mark may have come after the choice.
    #[error("this volume has left the cluster; it leads again only if it is all that is left")]
    Left,
    /// A new history is never started over data.
    #[error("a new cluster is not formed on a volume that holds data, or that could not be read")]
    NotEmpty,
}

impl Judge<'_> {
    /// What to do with this command.
    pub fn judge(&self, command: &Command) -> Verdict {
        if command.member != self.member {
            return Verdict::Refuse(Refusal::OtherMember);
        }
        if command.instance != self.instance {
            return Verdict::Refuse(Refusal::OtherInstance);
        }
        if let Some(last) = self.last {
            if command.stamp == last.stamp {
                return Verdict::Repeat(last);
            }
            if command.stamp < last.stamp {
                return Verdict::Refuse(Refusal::OldNumber { got: command.stamp, last: last.stamp });
            }
        }
        if command.stamp.epoch < self.epoch {
            return Verdict::Refuse(Refusal::OldEpoch { got: command.stamp.epoch, known: self.epoch });
        }
        if matches!(command.action, Action::Seed { forming: true }) && !self.empty {
            return Verdict::Refuse(Refusal::NotEmpty);
        }
        // A person's word starts the roster anew with this member alone; no other choice falls on a volume that left.
        let alone = command.roster.as_ref().is_some_and(|roster| {
            roster.before.is_none() && roster.entries.iter().all(|entry| entry.member == self.member)
        });
        if command.action.begins_term() && self.left && !alone {
            return Verdict::Refuse(Refusal::Left);
        }
        Verdict::Obey
    }
}

#[cfg(test)]
mod tests {
    use super::super::roster::Change;
    use super::*;

    fn command(epoch: u64, n: u64, action: Action) -> Command {
        let (stamp, instance) = (Stamp::new(epoch, n), Instance(7));
        Command { stamp, instance, member: "a".into(), roster: None, action }
    }

    fn judge(last: Option<Answer>) -> Judge<'static> {
        Judge { member: "a", instance: Instance(7), epoch: 3, last, empty: false, left: false }
    }

    #[test]
    fn only_a_newer_number_is_obeyed_and_the_same_one_is_answered_again() {
        let last = Answer { stamp: Stamp::new(3, 5), succeeded: false };
        let verdict = |epoch, n| judge(Some(last)).judge(&command(epoch, n, Action::Stop));
        assert_eq!(verdict(3, 6), Verdict::Obey);
        assert_eq!(verdict(4, 1), Verdict::Obey);
        assert_eq!(verdict(3, 5), Verdict::Repeat(last));
        let refused = Refusal::OldNumber { got: Stamp::new(3, 4), last: last.stamp };
        assert_eq!(verdict(3, 4), Verdict::Refuse(refused));
    }

    #[test]
    fn an_older_epoch_is_refused_even_when_nothing_was_obeyed_yet() {
        let verdict = judge(None).judge(&command(2, 9, Action::Stop));
        assert_eq!(verdict, Verdict::Refuse(Refusal::OldEpoch { got: 2, known: 3 }));
        assert_eq!(judge(None).judge(&command(3, 1, Action::Stop)), Verdict::Obey);
    }

    #[test]
    fn another_run_and_another_member_are_refused() {
        let other_run = Judge { instance: Instance(8), ..judge(None) };
        assert_eq!(other_run.judge(&command(3, 1, Action::Stop)), Verdict::Refuse(Refusal::OtherInstance));
        let other_member = Judge { member: "b", ..judge(None) };
        assert_eq!(other_member.judge(&command(3, 1, Action::Stop)), Verdict::Refuse(Refusal::OtherMember));
    }

    #[test]
    fn a_volume_that_left_leads_only_when_it_is_all_that_is_left() {
        let left = Judge { left: true, ..judge(None) };
        let with = |names: &[&str]| {
            let mut roster = Roster::forming(Stamp::new(3, 1), names[0], "v");
            for name in &names[1..] {
                roster = Change { before: None, ..roster.adding(name, "w") }.issue(Stamp::new(3, 1));
            }
            Command { roster: Some(roster), ..command(3, 1, Action::Seed { forming: false }) }
        };
        assert_eq!(left.judge(&with(&["a", "b"])), Verdict::Refuse(Refusal::Left));
        assert_eq!(left.judge(&command(3, 1, Action::Promote)), Verdict::Refuse(Refusal::Left));
        assert_eq!(left.judge(&with(&["a"])), Verdict::Obey);
        assert_eq!(left.judge(&command(3, 1, Action::Stop)), Verdict::Obey);
        assert_eq!(judge(None).judge(&with(&["a", "b"])), Verdict::Obey);
    }

    #[test]
    fn a_cluster_is_formed_on_nothing_only() {
        let forming = command(3, 1, Action::Seed { forming: true });
        assert_eq!(judge(None).judge(&forming), Verdict::Refuse(Refusal::NotEmpty));
        assert_eq!(Judge { empty: true, ..judge(None) }.judge(&forming), Verdict::Obey);
        assert_eq!(judge(None).judge(&command(3, 1, Action::Seed { forming: false })), Verdict::Obey);
    }
}
