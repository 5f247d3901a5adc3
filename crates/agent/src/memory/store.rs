//! Where memory is kept: `.muster/` at the root of the volume, beside the data and out of the application's reach.

use std::io;
use std::path::{Path, PathBuf};

use muster_core::manager::roster::Roster;

use super::Memory;
use super::file::{self, Unreadable};
use super::slot::Slot;

/// The directory at the volume's root.
pub const DIRECTORY: &str = ".muster";
/// The file of what is remembered.
pub const STATE: &str = "state";
/// Where a damaged one is put, for people to look at.
const DAMAGED: &str = "state.damaged";
/// The roster as the application reads it.
const ROSTER: &str = "roster.json";
/// Held by the agent that lives.
const AGENT_LOCK: &str = "agent.lock";
/// Held by every process that works on the data.
const PROCESS_LOCK: &str = "process.lock";

/// Room for what is remembered: four rosters of 512 members, with names as long as may be, and 64 terms.
const STATE_BYTES: usize = 512 * 1024;
/// Room for the roster: the same without the rest.
const ROSTER_BYTES: usize = 192 * 1024;
/// For the agent alone.
const PRIVATE: u32 = 0o600;
/// The application may run as someone else.
const READABLE: u32 = 0o644;
/// More than any state: what is larger is not one.
const READ_MAX: u64 = 4 * 1024 * 1024;

/// Why something cannot be remembered.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk does not take it.
    #[error("state cannot be written: {0}")]
    Disk(#[from] io::Error),
    /// It has no form, which does not happen.
    #[error("state cannot be written: {0}")]
    Form(#[from] serde_json::Error),
    /// What is there must not be replaced.
    #[error("state cannot be written: {0}")]
    Foreign(Unreadable),
    /// Another agent lives on this volume.
    #[error("state cannot be written: another agent holds this volume")]
    NotOurs,
}

/// What was found at a start.
#[derive(Debug)]
pub enum Found {
    /// Nothing: the volume was never used, or what was remembered was removed.
    Nothing,
    /// This.
    Memory(Box<Memory>),
    /// Something that tells nothing.
    Unreadable(String),
}

/// The directory.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    state: Slot,
    roster: Slot,
    foreign: Option<Unreadable>,
}

impl Store {
    /// That of this volume; made if it is not there.
    pub fn open(volume: &Path) -> io::Result<Self> {
        let directory = volume.join(DIRECTORY);
        match std::fs::create_dir(&directory) {
            Ok(()) => std::fs::File::open(volume)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let state = Slot::new(&directory, STATE, STATE_BYTES, PRIVATE);
        let roster = Slot::new(&directory, ROSTER, ROSTER_BYTES, READABLE);
        Ok(Self { directory, state, roster, foreign: None })
    }

    /// Held by the agent that lives.
    pub fn agent_lock(&self) -> PathBuf {
        self.directory.join(AGENT_LOCK)
    }

    /// Held by every process that works on the data.
    pub fn process_lock(&self) -> PathBuf {
        self.directory.join(PROCESS_LOCK)
    }

    /// Where the application finds the roster.
    pub fn roster_path(&self) -> &Path {
        self.roster.path()
    }

    /// What is remembered, and space for what will be. Called by the agent that holds the volume; a damaged state is put aside.
    pub fn load(&mut self) -> Found {
        let found = self.look();
        // Without the space it is tried again at every write.
        let _ = self.state.prepare();
        let _ = self.roster.prepare();
        found
    }

    /// What is remembered, to look at only: another agent may hold the volume.
    pub fn peek(&self) -> Option<Memory> {
        file::read(&read_bounded(self.state.path()).ok()??).ok()
    }

    fn look(&mut self) -> Found {
        let found = match read_bounded(self.state.path()) {
            Ok(Some(text)) => file::read(&text),
            Ok(None) => return Found::Nothing,
            Err(error) => {
                // Nobody knows what is there, so it is not replaced.
                self.foreign = Some(Unreadable::Damaged("it cannot be read"));
                return Found::Unreadable(format!("what the agent remembered cannot be read: {error}"));
            }
        };
        match found {
            Ok(memory) => Found::Memory(Box::new(memory)),
            Err(why) => {
                match why {
                    // Left for the agent that understands it.
                    Unreadable::OtherFormat(_) => self.foreign = Some(why.clone()),
                    // It is replaced by the next write; a copy is for people, where there is space for one.
                    Unreadable::Damaged(_) => {
                        let _ = std::fs::copy(self.state.path(), self.directory.join(DAMAGED));
                    }
                }
                Found::Unreadable(why.to_string())
            }
        }
    }

    /// Remembers this. It is on disk when this returns; after an error nothing is known to have changed.
    pub fn commit(&self, memory: &Memory) -> Result<(), StoreError> {
        if let Some(why) = &self.foreign {
            return Err(StoreError::Foreign(why.clone()));
        }
        let content = file::write(memory, self.state.size())?;
        Ok(self.state.replace(&content)?)
    }

    /// Hands the roster to the application.
    pub fn hand_out(&self, roster: &Roster) -> Result<(), StoreError> {
        let mut content = serde_json::to_vec(roster)?;
        content.resize(self.roster.size().max(content.len() + 1), b'\n');
        Ok(self.roster.replace(&content)?)
    }
}

fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    use io::Read as _;
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(READ_MAX).read_to_end(&mut text)?;
    Ok(Some(text))
}
