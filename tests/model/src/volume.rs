//! What a member keeps on disk: the application's data, and what its agent must remember.

use muster_core::manager::command::Answer;
use muster_core::manager::report::Held;
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Stamp;
use muster_core::manager::terms::TermList;

/// What survives a power-off.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks, as an agent keeps them")]
pub struct Volume {
    /// What it is known by.
    pub uuid: String,
    /// The writes it holds; a write is a number that was never used before.
    pub log: Vec<u64>,
    /// The history they belong to; "" while it is empty.
    pub history: String,
    /// The terms it lived through.
    pub terms: TermList,
    /// Whether it once had all that the primary had.
    pub complete: bool,
    /// Whether it has left the cluster.
    pub left: bool,
    /// Whether what it holds cannot be told.
    pub unreadable: bool,
    /// The highest epoch its agent has seen.
    pub epoch: u64,
    /// The last command obeyed, and what came of it.
    pub last: Option<Answer>,
    /// The roster that the application counts by.
    pub roster: Option<Roster>,
    /// A newer one that it does not count by yet.
    pub ahead: Option<Roster>,
    /// Whether `leave` succeeded since the application was last started.
    pub evacuated: bool,
    /// Whether its devices are left alone.
    pub reserved: bool,
    /// Whether a copy of everything was begun by the software itself, and has not ended: there is nothing whole.
    pub torn: bool,
    /// Whether a primary had all it held when it was last started beside one, and it was not whole since.
    pub covered: bool,
    /// The counts that Muster wrote last, at most two.
    pub recorded: Vec<usize>,
    /// The command by which the newest of them came.
    pub recorded_at: Option<Stamp>,
}

impl Volume {
    /// One that holds nothing.
    pub fn new(uuid: String) -> Self {
        Self { uuid, ..Self::default() }
    }

    /// Whether it holds nothing at all that is whole.
    pub fn empty(&self) -> bool {
        self.history.is_empty() || self.torn
    }

    /// How much it holds.
    pub fn sequence(&self) -> u64 {
        self.log.len() as u64
    }

    /// The newest roster that its agent keeps.
    pub fn newest_roster(&self) -> Option<&Roster> {
        self.ahead.as_ref().or(self.roster.as_ref())
    }

    /// What its agent reports of it.
    pub fn held(&self) -> Held {
        Held {
            history: self.history.clone(),
            terms: self.terms.clone(),
            sequence: self.sequence(),
            position: String::new(),
            empty: self.empty(),
            complete: self.complete,
            left: self.left,
        }
    }
}
