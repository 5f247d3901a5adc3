//! A running ledger: its log, its role, and the threads around them.
//!
//! | thread | what it does |
//! |---|---|
//! | committer | takes what clients sent, as one frame, to disk |
//! | one for each connection | a client's requests, or a follower that is fed (with a second one for its acks) |
//! | follower | fetches from the primary while this is a secondary |
//! | control | answers `status`, and obeys `promote`, `demote` and `join` |
//!
//! All share one state under one lock. A change of role ends what was begun in the role before: its *turn* is over.

mod connections;
mod follow;
mod lead;
mod status;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use self::lead::AppendError;
pub use self::status::{Activity, Status};
use crate::log::{History, Log, LogError};
use crate::surroundings::{Electorate, Surroundings};

/// Why a ledger does not run.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The log cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Its address cannot be had.
    #[error("cannot listen at {0}: {1}")]
    Listen(String, #[source] io::Error),
    /// A primary needs something to lead with.
    #[error("there is no log in {0}: only `seed` begins one")]
    NothingToLead(String),
    /// It is not in the role that this needs.
    #[error("it runs as {0} already")]
    Already(Role),
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// It takes entries.
    Primary,
    /// It follows.
    Secondary,
}

impl std::fmt::Display for Role {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
        })
    }
}

/// How long a primary that is demoted waits for its last entries to have enough copies.
const HAND_OVER: Duration = Duration::from_secs(2);

/// How it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As the first of its cluster: it begins a log where there is none.
    Seed,
    /// As primary, with the log that is there.
    Primary,
    /// As secondary, with or without a log.
    Secondary,
}

/// A running ledger.
pub struct Node {
    told: Surroundings,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// None: a secondary that has fetched nothing yet.
    log: Option<Log>,
    role: Role,
    term: String,
    electorate: Electorate,
    /// Grows with every change of role.
    turn: u64,
    /// What clients sent and no frame holds yet.
    waiting: VecDeque<Vec<u8>>,
    /// The last entry of a frame that could not be written and synced: it may be on disk all the same.
    doubtful: u64,
    /// By their volumes.
    followers: BTreeMap<String, Follower>,
    connections: usize,
    /// Whether a primary is about to be one no more, and takes nothing new.
    hands_over: bool,
    /// What a secondary knows of its primary.
    primary: Heard,
    /// Why it cannot go on.
    failed: Option<LogError>,
}

/// A follower that is connected.
struct Follower {
    /// Which of its connections.
    connection: u64,
    /// How far it has all on disk.
    sequence: u64,
}

/// What a secondary knows of its primary.
#[derive(Default)]
struct Heard {
    /// How far it was when last heard.
    sequence: u64,
    at: Option<Instant>,
    /// When all of it was on disk here.
    caught_up: Option<Instant>,
    /// Why it cannot be followed.
    trouble: String,
}

impl Node {
    /// Opens the log and begins to listen.
    pub fn start(start: Start, told: Surroundings) -> Result<Arc<Self>, NodeError> {
        let log = match (Log::position_in(&told.data)?, start) {
            (Some(_), _) => Some(Log::open(&told.data)?),
            (None, Start::Seed) => Some(Log::create(&told.data, History::fresh())?),
            (None, Start::Secondary) => None,
            (None, Start::Primary) => return Err(NodeError::NothingToLead(told.data.display().to_string())),
        };
        let listen = |error| NodeError::Listen(told.address.clone(), error);
        let listener = TcpListener::bind(&told.address).map_err(listen)?;
        let role = if start == Start::Secondary { Role::Secondary } else { Role::Primary };
        let state = State {
            log,
            role,
            term: told.term.clone(),
            electorate: told.electorate.clone(),
            turn: 1,
            waiting: VecDeque::new(),
            doubtful: 0,
            followers: BTreeMap::new(),
            connections: 0,
            hands_over: false,
            primary: Heard::default(),
            failed: None,
        };
        let node = Arc::new(Self { told, state: Mutex::new(state), changed: Condvar::new() });
        node.spawn(|node| node.commit());
        node.spawn(|node| node.follow());
        node.spawn(move |node| node.accept(&listener));
        Ok(node)
    }

    /// Waits until it cannot go on, and says why.
    pub fn wait(&self) -> LogError {
        let mut state = self.lock();
        loop {
            if let Some(error) = state.failed.take() {
                return error;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What it was told at the start.
    pub fn told(&self) -> &Surroundings {
        &self.told
    }

    /// Makes it primary in this term. All it received is in its log already.
    pub fn promote(&self, term: &str, electorate: Electorate) -> Result<(), NodeError> {
        let mut state = self.lock();
        if state.role == Role::Primary {
            return Err(NodeError::Already(state.role));
        }
        if state.log.is_none() {
            return Err(NodeError::NothingToLead(self.told.data.display().to_string()));
        }
        state.electorate = electorate;
        self.turn(&mut state, Role::Primary, term);
        Ok(())
    }

    /// Makes it secondary: from here on it takes no entry. Whom it follows then is a new start's to say.
    ///
    /// What it has taken goes to enough voters first, if they fetch it in time: else it would hold more than everyone else, and
    /// nobody could take over from it.
    pub fn demote(&self) -> Result<(), NodeError> {
        let until = Instant::now() + HAND_OVER;
        let mut state = self.lock();
        if state.role == Role::Secondary {
            return Err(NodeError::Already(state.role));
        }
        state.hands_over = true;
        let turn = state.turn;
        let owes = |state: &State| {
            !state.waiting.is_empty() || state.acknowledged(&self.told.volume) < state.sequence()
        };
        while state.turn == turn && state.failed.is_none() && owes(&state) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.turn(&mut state, Role::Secondary, "");
        Ok(())
    }

    /// Counts copies by this from now on.
    pub fn count_by(&self, electorate: Electorate) {
        self.lock().electorate = electorate;
        self.changed.notify_all();
    }

    fn turn(&self, state: &mut State, role: Role, term: &str) {
        state.turn += 1;
        state.role = role;
        state.hands_over = false;
        term.clone_into(&mut state.term);
        state.waiting.clear();
        state.followers.clear();
        state.primary = Heard::default();
        self.changed.notify_all();
    }

    fn fail(&self, state: &mut State, error: LogError) {
        state.failed = Some(error);
        state.turn += 1;
        self.changed.notify_all();
    }

    /// The state. A thread that panicked left it as whole as any crash would: what counts is on disk.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: &Arc<Self>, work: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let node = Arc::clone(self);
        std::thread::spawn(move || work(&node));
    }
}

impl State {
    /// How far the log reaches; 0 without one.
    fn sequence(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.position().sequence)
    }

    /// How far enough voters have all on disk; its own is this volume.
    fn acknowledged(&self, own: &str) -> u64 {
        let mut copies: Vec<u64> = self
            .electorate
            .voters
            .iter()
            .filter_map(|voter| {
                if voter == own {
                    return Some(self.sequence());
                }
                self.followers.get(voter).map(|follower| follower.sequence)
            })
            .collect();
        copies.sort_unstable_by(|a, b| b.cmp(a));
        // Nobody's copy is no copy: with no voters told, or none wanted, one is needed all the same.
        copies.get(self.electorate.copies.max(1) - 1).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
