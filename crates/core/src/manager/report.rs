//! What an agent says about its member.

use muster_api::names::Role;
use serde::{Deserialize, Serialize};

use super::command::Answer;
use super::roster::Roster;
use super::stamp::{Stamp, Term};
use super::terms::{Place, TermList};

/// A nonce that an agent draws at every start: a command is meant for one run of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Instance(pub u64);

impl From<Instance> for String {
    fn from(instance: Instance) -> Self {
        format!("{:016x}", instance.0)
    }
}

impl TryFrom<String> for Instance {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Which run of the agent says this.
    pub instance: Instance,
    /// Grows with every report of that run, so that a late one is recognised.
    pub serial: u64,
    /// The round of the question that this answers; 0 in a line of the stream, which answers nobody.
    pub round: u64,
    /// The highest epoch this agent has on disk.
    pub epoch: u64,
    /// The last command it obeyed.
    pub last: Option<Answer>,
    /// The uuid of its volume.
    pub volume: String,
    /// The roster it has on disk.
    pub roster: Option<Roster>,
    /// What its application does.
    pub application: Application,
    /// What its volume holds.
    pub data: Data,
    /// The `restoreReplicas` that Muster wrote last, and the one before it: at most two, the newest last.
    pub recorded: Vec<usize>,
    /// The command by which it learned the newest of them.
    pub recorded_at: Option<Stamp>,
    /// Whether the engine's `leave` succeeded since the application was last started.
    pub evacuated: bool,
    /// Whether it leaves devices alone that are not part of the storage pool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved: bool,
    /// Whether a primary had all that this volume held when the application was last started beside it, and the volume was not
    /// whole since: the software may have thrown away what was there, to copy everything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub covered: bool,
}

impl Report {
    /// The running application, if there is one.
    pub fn running(&self) -> Option<&Running> {
        match &self.application {
            Application::Running(running) => Some(running),
            Application::Unknown | Application::Stopped => None,
        }
    }

    /// The data, if it could be read.
    pub fn held(&self) -> Option<&Held> {
        match &self.data {
            Data::Held(held) => Some(held),
            Data::Unreadable => None,
        }
    }

    /// Whether this volume's data is not there, and needs not be: a primary had all of it when the copy began that would have
    /// replaced it, and that was cut off. Only where the engine or the agent is certain that it is no whole data; what
    /// cannot be read may be.
    pub fn is_superseded(&self) -> bool {
        let cut_off = |held: &Held| !held.left && (held.empty || !held.complete);
        self.covered && self.application == Application::Stopped && self.held().is_some_and(cut_off)
    }

    /// Whether this agent is known to hold nothing.
    pub fn is_empty(&self) -> bool {
        self.held().is_some_and(|held| held.empty)
    }
}

/// What a member's application does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Application {
    /// A starting agent cannot exclude that a process of its previous run lives; or the application has just ended, and what it left is
    /// not known yet.
    Unknown,
    /// No process of it lives.
    Stopped,
    /// It runs.
    Running(Running),
}

/// A running application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// The role it runs in.
    pub role: Role,
    /// What it is busy with.
    pub activity: Activity,
    /// The component of the cluster that it sees itself in, for software that has such a thing.
    pub view: Option<String>,
    /// The term of the primary that it was started for, or that it serves in.
    pub term: Option<Term>,
    /// The roster by which it counts copies, when it is primary.
    pub roster: Option<Stamp>,
    /// Whether it has all that the primary has.
    pub synced: bool,
    /// A figure that moves while there is progress (bytes copied, log applied).
    pub progress: u64,
}

/// What a running application is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Activity {
    /// It starts, or repairs itself after a crash.
    Starting,
    /// It fetches what it lacks.
    Joining,
    /// It serves, and feeds another member meanwhile.
    Donor,
    /// It does what its role asks.
    Serving,
    /// It lives and has no quorum.
    Isolated,
    /// It lives, and says that it has failed.
    Failed,
}

/// What a member's volume holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Data {
    /// It could not be told. Unreadable is not zero.
    Unreadable,
    /// This.
    Held(Held),
}

/// What a readable volume holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// Which history the data belongs to; "" where the engine has no such thing.
    pub history: String,
    /// The terms it lived through.
    pub terms: TermList,
    /// The last sequence it holds on disk.
    pub sequence: u64,
    /// The engine's own words for that position.
    pub position: String,
    /// Whether there is nothing at all.
    pub empty: bool,
    /// Whether it once had all that the primary had.
    pub complete: bool,
    /// Whether this volume left the cluster, and has not joined anew.
    pub left: bool,
}

impl Held {
    /// Its place in an election.
    pub fn place(&self) -> Place {
        self.terms.place(self.sequence)
    }

    /// Whether this data may be counted, elected or started from: there, whole, and part of the cluster.
    pub fn counts(&self) -> bool {
        self.complete && !self.empty && !self.left
    }
}
