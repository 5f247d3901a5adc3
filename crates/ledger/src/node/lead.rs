//! The primary's work: entries into frames, frames to followers, and the answer when enough have them.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Follower, Node, Role, State};
use crate::frame::{Frame, MAX_BODY, MAX_ENTRY};
use crate::log::{Log, Position};

/// How often a follower hears something even if there is nothing new.
pub(super) const HEARTBEAT: Duration = Duration::from_millis(500);
/// After how long a silent other side counts as gone.
pub(super) const SILENCE: Duration = Duration::from_secs(5);
/// The longest line that a follower answers with: a word and a number.
const MAX_ACK: u64 = 32;
/// How many entries may wait for a frame: more, and clients are told to come again.
const MAX_WAITING: usize = 4096;

/// What became of an entry that was not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// It is in no log.
    #[error("{0}")]
    Refused(String),
    /// It is in the log, or was about to be, and may or may not stay there.
    #[error("entry {0} is on too few disks yet; it may stay or be lost")]
    Unknown(u64),
}

/// A follower that asks to be fed.
pub(super) struct Asking {
    /// Where it puts what it gets, and by which its copies are counted.
    pub(super) volume: String,
    pub(super) term: String,
    /// How far its log reaches; none: it has none.
    pub(super) position: Option<Position>,
}

impl Node {
    /// Appends an entry, and waits until enough voters have it on disk.
    pub fn append(&self, entry: Vec<u8>) -> Result<u64, AppendError> {
        if entry.len() > MAX_ENTRY {
            let refusal = format!("an entry has at most {MAX_ENTRY} bytes, this one has {}", entry.len());
            return Err(AppendError::Refused(refusal));
        }
        let deadline = Instant::now() + self.told.append_timeout;
        let mut state = self.lock();
        if state.hands_over {
            return Err(AppendError::Refused("this primary hands over; try again".into()));
        }
        if state.role != Role::Primary || state.failed.is_some() {
            let primaries = self.told.primaries.join(", ");
            return Err(AppendError::Refused(format!("this is not the primary; it follows {primaries}")));
        }
        if state.waiting.len() >= MAX_WAITING {
            return Err(AppendError::Refused("too many entries wait; try again".into()));
        }
        state.waiting.push_back(entry);
        // Nobody else appends in this turn, and entries go in the order in which they came.
        let (turn, sequence) = (state.turn, state.sequence() + state.waiting.len() as u64);
        self.changed.notify_all();
        loop {
            if state.turn != turn {
                let written = state.sequence().max(state.doubtful) >= sequence;
                let refused = AppendError::Refused("this is not the primary any more".into());
                return Err(if written { AppendError::Unknown(sequence) } else { refused });
            }
            if state.acknowledged(&self.told.volume) >= sequence {
                return Ok(sequence);
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return Err(AppendError::Unknown(sequence));
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes what waits to disk, as one frame each time.
    pub(super) fn commit(&self) {
        let mut state = self.lock();
        while state.failed.is_none() {
            if state.waiting.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let entries = next_frame(&mut state);
            let last = state.sequence() + entries.len() as u64;
            let Some(log) = &mut state.log else { return };
            if let Err(error) = log.append(&entries) {
                // Where only the sync failed the next start finds all of it: nobody may be told that it is nowhere.
                state.doubtful = last;
                self.fail(&mut state, error);
            }
            self.changed.notify_all();
        }
    }

    /// Feeds a follower until it goes, or this is the primary no more.
    pub(super) fn feed(
        self: &Arc<Self>,
        mut stream: TcpStream,
        asking: &Asking,
        connection: u64,
    ) -> io::Result<()> {
        let (turn, mut sent) = match self.admit(asking, connection) {
            Ok(admitted) => admitted,
            Err(refusal) => return writeln!(stream, "error {refusal}"),
        };
        stream.set_write_timeout(Some(SILENCE))?;
        stream.set_read_timeout(Some(SILENCE))?;
        let history = self.lock().log.as_ref().map(|log| log.position().history.to_string());
        writeln!(stream, "frames {}", history.unwrap_or_default())?;
        let acks = BufReader::new(stream.try_clone()?);
        let volume = asking.volume.clone();
        self.spawn(move |node| node.hear(acks, &volume, connection));
        while let Some(frame) = self.next_for(&asking.volume, connection, turn, sent)? {
            stream.write_all(&frame.encode())?;
            sent = sent.max(frame.last());
        }
        Ok(())
    }

    /// Whether a follower can go on from where it is: the turn it may, and how far it is.
    fn admit(&self, asking: &Asking, connection: u64) -> Result<(u64, u64), String> {
        let mut state = self.lock();
        let State { role: Role::Primary, log: Some(log), .. } = &*state else {
            return Err("this is not the primary".into());
        };
        if asking.term != state.term {
            return Err(format!("this primary serves in term {}, not {}", state.term, asking.term));
        }
        let sequence = match &asking.position {
            Some(position) if log.has(position) => position.sequence,
            Some(_) => return Err("what it holds is not a beginning of this log: it must copy anew".into()),
            None => 0,
        };
        state.followers.insert(asking.volume.clone(), Follower { connection, sequence });
        self.changed.notify_all();
        Ok((state.turn, sequence))
    }

    /// The next frame for a follower; an empty one from time to time; none when its connection is over.
    fn next_for(&self, volume: &str, connection: u64, turn: u64, sent: u64) -> io::Result<Option<Frame>> {
        let since = Instant::now();
        let mut state = self.lock();
        loop {
            let here = state.followers.get(volume).is_some_and(|follower| follower.connection == connection);
            let (true, Some(log)) = (here && state.turn == turn, &state.log) else { return Ok(None) };
            if let Some(frame) = log.after(sent).map_err(io::Error::other)? {
                return Ok(Some(frame));
            }
            let Some(left) = HEARTBEAT.checked_sub(since.elapsed()) else {
                return Ok(Some(heartbeat(log)));
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes what a follower has on disk, until it is silent for too long.
    fn hear(&self, mut acks: BufReader<TcpStream>, volume: &str, connection: u64) {
        let mut line = String::new();
        while matches!(acks.by_ref().take(MAX_ACK).read_line(&mut line), Ok(1..)) {
            let Some(sequence) = line.strip_prefix("ack ").and_then(|rest| rest.trim_end().parse().ok())
            else {
                break;
            };
            let mut state = self.lock();
            let reach = state.sequence();
            match state.followers.get_mut(volume) {
                Some(follower) if follower.connection == connection => {
                    follower.sequence = reach.min(sequence);
                }
                _ => break,
            }
            self.changed.notify_all();
            line.clear();
        }
        let mut state = self.lock();
        if state.followers.get(volume).is_some_and(|follower| follower.connection == connection) {
            state.followers.remove(volume);
        }
        self.changed.notify_all();
    }
}

/// As many of the entries that wait as one frame holds.
fn next_frame(state: &mut State) -> Vec<Vec<u8>> {
    let mut weight = 0;
    let mut entries = Vec::new();
    while let Some(entry) = state.waiting.front() {
        weight += Frame::weight(entry);
        if weight > MAX_BODY {
            break;
        }
        entries.extend(state.waiting.pop_front());
    }
    entries
}

/// A frame that says only how far this log is.
fn heartbeat(log: &Log) -> Frame {
    let position = log.position();
    Frame::new::<&[u8]>(position.sequence + 1, position.digest, &[])
}
