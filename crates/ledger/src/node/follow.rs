//! The secondary's work: frames from the primary, to disk, in order.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::lead::{HEARTBEAT, SILENCE};
use super::{Heard, Node, Role};
use crate::frame::{Frame, HEADER, hex};
use crate::log::{History, Log};

/// How long to wait before the primary is asked again.
const AGAIN: Duration = Duration::from_millis(300);

impl Node {
    /// Follows while this is a secondary.
    pub(super) fn follow(&self) {
        let mut tries = 0;
        while let Some(turn) = self.next_turn_as_secondary() {
            let primaries = &self.told.primaries;
            let trouble = match primaries.get(tries % primaries.len().max(1)) {
                Some(primary) => match self.fetch(primary, turn) {
                    Ok(()) => String::new(),
                    Err(error) => format!("{primary}: {error}"),
                },
                None => "there is no primary to follow".to_owned(),
            };
            tries += 1;
            let mut state = self.lock();
            if state.turn == turn {
                state.primary = Heard { trouble, caught_up: state.primary.caught_up, ..Heard::default() };
                let waited = self.changed.wait_timeout_while(state, AGAIN, |state| state.turn == turn);
                drop(waited);
            }
        }
    }

    /// The turn in which this is a secondary, as soon as there is one; none when it has failed.
    fn next_turn_as_secondary(&self) -> Option<u64> {
        let waits = |state: &mut super::State| state.role != Role::Secondary && state.failed.is_none();
        let state = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        state.failed.is_none().then_some(state.turn)
    }

    /// Takes frames from this primary until it is silent, or the turn is over.
    fn fetch(&self, primary: &str, turn: u64) -> io::Result<()> {
        let address = primary.to_socket_addrs()?.next();
        let address = address.ok_or_else(|| io::Error::other("no such address"))?;
        let mut stream = TcpStream::connect_timeout(&address, SILENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        writeln!(stream, "{}", self.request())?;
        let mut frames = BufReader::new(stream.try_clone()?);
        let mut answer = String::new();
        frames.by_ref().take(1024).read_line(&mut answer)?;
        let history = answer.strip_prefix("frames ").and_then(|rest| rest.trim_end().parse().ok());
        let Some(history) = history else {
            return Err(io::Error::other(answer.trim_start_matches("error ").trim_end().to_owned()));
        };
        while let Some(sequence) = self.take(&read_frame(&mut frames)?, history, turn) {
            writeln!(stream, "ack {sequence}")?;
        }
        Ok(())
    }

    fn request(&self) -> String {
        let state = self.lock();
        let (volume, term) = (&self.told.volume, &state.term);
        let term = if term.is_empty() { "-" } else { term };
        match state.log.as_ref().map(Log::position) {
            Some(at) => {
                format!("follow {volume} {term} {} {} {}", at.history, at.sequence, hex(&at.digest))
            }
            None => format!("follow {volume} {term} - 0 -"),
        }
    }

    /// Takes a frame to disk, and says how far the log reaches; none when the turn is over.
    fn take(&self, frame: &Frame, history: History, turn: u64) -> Option<u64> {
        let mut state = self.lock();
        if state.turn != turn {
            return None;
        }
        let taken = match state.log.take() {
            Some(log) => Ok(log),
            None => Log::create(&self.told.data, history),
        };
        let taken = taken.and_then(|mut log| {
            if frame.count > 0 {
                log.take(frame)?;
            }
            Ok(log)
        });
        match taken {
            Ok(log) => state.log = Some(log),
            Err(error) => {
                self.fail(&mut state, error);
                return None;
            }
        }
        let (now, sequence) = (Instant::now(), state.sequence());
        let heard = &mut state.primary;
        (heard.at, heard.sequence) = (Some(now), frame.last());
        if sequence >= frame.last() {
            heard.caught_up = Some(now);
        }
        self.changed.notify_all();
        Some(sequence)
    }
}

impl Heard {
    /// Whether the primary was heard lately.
    pub(super) fn lately(&self) -> bool {
        self.at.is_some_and(|at| at.elapsed() < HEARTBEAT * 4)
    }
}

fn read_frame(from: &mut impl io::Read) -> io::Result<Frame> {
    let mut bytes = vec![0; HEADER];
    from.read_exact(&mut bytes)?;
    let header = bytes.first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
    let body = Frame::body_length(header).map_err(io::Error::other)?;
    bytes.resize(HEADER + body, 0);
    from.read_exact(&mut bytes[HEADER..])?;
    Frame::decode(&bytes).map_err(io::Error::other)
}
