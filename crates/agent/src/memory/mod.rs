//! What an agent remembers: pure data and the rules by which it changes, and the file in which it is kept.

pub mod command;
pub mod file;
pub mod observe;
mod slot;
pub mod store;

use muster_core::manager::command::Answer;
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Stamp;
use muster_core::manager::terms::TermList;
use serde::{Deserialize, Serialize};

/// What survives a power-off, beside the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks, each with a meaning of its own")]
pub struct Memory {
    /// What this volume is known by.
    pub volume: String,
    /// The highest epoch that was seen.
    pub epoch: u64,
    /// The last command that was obeyed, and what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Answer>,
    /// A command that was begun. Found at a start, its doing was cut off: nothing of it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Stamp>,
    /// The roster that the application counts by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<Roster>,
    /// A newer one that it does not count by yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Roster>,
    /// This member's number in the cluster, once a roster said it; it outlives its entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// The terms that the data lived through.
    #[serde(default)]
    pub terms: TermList,
    /// Whether the data once was all that the primary had.
    #[serde(default)]
    pub complete: bool,
    /// Whether this volume left the cluster, and has not joined anew.
    #[serde(default)]
    pub left: bool,
    /// Whether what was remembered before could not be read: then the data counts for nothing until it is copied anew, or a
    /// person lets it lead.
    #[serde(default)]
    pub lost: bool,
    /// Whether `leave` succeeded since the application was last started.
    #[serde(default)]
    pub evacuated: bool,
    /// The counts that Muster wrote last, at most two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<usize>,
    /// The command by which the newest of them came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Stamp>,
    /// Whether devices that are not part of the storage pool are left alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved: bool,
    /// Whether a primary had all that the data was when the application was last started beside it, and the data was not whole
    /// since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub covered: bool,
    /// The process that was started last, until it is known to be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// A process, by what tells it from every other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it began, in ticks since the machine did.
    pub start: u64,
    /// Which life of the machine that was.
    pub boot: String,
}

/// What the engine says of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing that can be relied on.
    Unreadable,
    /// This.
    Position(Position),
}

/// How far the data is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Which history it belongs to; "" where the engine has no such thing.
    pub history: String,
    /// The last sequence on disk.
    pub sequence: u64,
    /// The engine's own words for it.
    pub position: String,
    /// Whether there is nothing at all.
    pub empty: bool,
}

impl Known {
    /// The position, if it is known.
    pub fn position(&self) -> Option<&Position> {
        match self {
            Self::Unreadable => None,
            Self::Position(position) => Some(position),
        }
    }

    /// The last sequence; nothing is known to be there where nothing is known.
    pub fn sequence(&self) -> u64 {
        self.position().map_or(0, |position| position.sequence)
    }

    /// Whether there is nothing at all, for certain.
    pub fn is_empty(&self) -> bool {
        self.position().is_some_and(|position| position.empty)
    }
}

impl Memory {
    /// Of a volume that was never used.
    pub fn new(volume: String) -> Self {
        Self { volume, ..Self::default() }
    }

    /// The newest roster that is kept.
    pub fn newest_roster(&self) -> Option<&Roster> {
        self.ahead.as_ref().or(self.roster.as_ref())
    }

    /// After a start of the agent: what was begun has ended, with nothing of it alive.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        if let Some(stamp) = self.pending.take() {
            self.answered(Answer { stamp, succeeded: false });
        }
        self
    }

    /// Keeps an answer, unless a later command was answered already.
    pub(crate) fn answered(&mut self, answer: Answer) {
        if self.last.is_none_or(|last| last.stamp <= answer.stamp) {
            self.last = Some(answer);
        }
        if self.pending == Some(answer.stamp) {
            self.pending = None;
        }
    }
}
