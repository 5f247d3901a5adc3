//! A running application.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_core::manager::report::{Activity, Running};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Term;

/// A running application.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a process")]
pub struct App {
    /// The role it runs in.
    pub role: Role,
    /// Whether it takes writes.
    pub serving: bool,
    /// The term it serves in, or that of the primary it was started for.
    pub term: Option<Term>,
    /// Whether it has all that the primary has.
    pub synced: bool,
    /// Whether it still waits for its full copy.
    pub copying: bool,
    /// Whether it became primary without a command.
    pub self_made: bool,
    /// Whether it lives and has no quorum.
    pub isolated: bool,
    /// The roster by which it counts copies.
    pub roster: Option<Roster>,
    /// What each volume is known to hold, by the copies this primary was told of.
    pub confirmed: BTreeMap<String, u64>,
}

impl App {
    /// One that was just started.
    pub fn new(role: Role, term: Option<Term>, roster: Option<Roster>) -> Self {
        Self {
            role,
            serving: false,
            term,
            synced: false,
            copying: false,
            self_made: false,
            isolated: false,
            roster,
            confirmed: BTreeMap::new(),
        }
    }

    /// What it is busy with.
    pub fn activity(&self) -> Activity {
        if self.isolated {
            Activity::Isolated
        } else if self.copying {
            Activity::Joining
        } else if self.serving || self.role == Role::Secondary {
            Activity::Serving
        } else {
            Activity::Starting
        }
    }

    /// What its agent reports of it.
    pub fn running(&self) -> Running {
        Running {
            role: self.role,
            activity: self.activity(),
            view: None,
            term: self.term,
            roster: self.roster.as_ref().map(|roster| roster.version),
            synced: self.synced || self.serving,
            progress: 0,
        }
    }
}
