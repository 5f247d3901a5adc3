//! Whoever connects: a client, line by line, or a follower.
//!
//! | request | answer |
//! |---|---|
//! | `append TEXT` | `ok N` when enough voters have it · `error …`: it is nowhere · `unknown …`: it may stay or be lost |
//! | `read N COUNT` | `N TEXT` for each entry from N on that is on this disk, then `end` |
//! | `length` | `ok N`: the last entry on this disk |
//! | `follow VOLUME TERM HISTORY SEQUENCE DIGEST` | `frames HISTORY` and frames for ever, which are answered by `ack N` |

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::lead::Asking;
use super::{AppendError, Node};
use crate::frame::{Digest, MAX_ENTRY};
use crate::log::{History, Position};

/// How many may be connected at once.
const MAX_CONNECTIONS: usize = 256;
/// The longest line: an entry and the word before it.
const MAX_LINE: u64 = MAX_ENTRY as u64 + 64;
/// After how long a client that says nothing is let go.
const IDLE: Duration = Duration::from_secs(600);
/// After how long a client that takes nothing is let go.
const STUCK: Duration = Duration::from_secs(10);
/// The most entries of one `read`.
const MAX_READ: usize = 1000;

impl Node {
    /// Answers whoever connects.
    pub(super) fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for (connection, stream) in (1..).zip(listener.incoming()) {
            let Ok(mut stream) = stream else { continue };
            let mut state = self.lock();
            if state.connections >= MAX_CONNECTIONS {
                drop(state);
                drop(writeln!(stream, "error too many connections"));
                continue;
            }
            state.connections += 1;
            drop(state);
            self.spawn(move |node| {
                // Whatever ends a connection ends only it: the other side sees that it is closed.
                drop(node.serve(stream, connection));
                node.lock().connections -= 1;
            });
        }
    }

    fn serve(self: &Arc<Self>, mut stream: TcpStream, connection: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(IDLE))?;
        stream.set_write_timeout(Some(STUCK))?;
        let mut lines = BufReader::new(stream.try_clone()?);
        while let Some(line) = read_line(&mut lines)? {
            let (word, rest) = match line.iter().position(|byte| *byte == b' ') {
                Some(at) => (&line[..at], &line[at + 1..]),
                None => (&line[..], &[][..]),
            };
            match word {
                b"append" => self.answer_append(&mut stream, rest)?,
                b"read" => self.answer_read(&mut stream, rest)?,
                b"length" => writeln!(stream, "ok {}", self.lock().sequence())?,
                b"follow" => match asking(rest) {
                    Some(asking) => return self.feed(stream, &asking, connection),
                    None => writeln!(stream, "error follow VOLUME TERM HISTORY SEQUENCE DIGEST")?,
                },
                _ => writeln!(stream, "error say append TEXT, read N COUNT or length")?,
            }
        }
        Ok(())
    }

    fn answer_append(&self, stream: &mut TcpStream, entry: &[u8]) -> io::Result<()> {
        match self.append(entry.to_vec()) {
            Ok(sequence) => writeln!(stream, "ok {sequence}"),
            Err(AppendError::Refused(why)) => writeln!(stream, "error {why}"),
            Err(unknown @ AppendError::Unknown(_)) => writeln!(stream, "unknown {unknown}"),
        }
    }

    fn answer_read(&self, stream: &mut TcpStream, rest: &[u8]) -> io::Result<()> {
        let numbers = std::str::from_utf8(rest).ok().and_then(|rest| rest.split_once(' '));
        let numbers = numbers.and_then(|(from, count)| Some((from.parse().ok()?, count.parse().ok()?)));
        let Some((from, count)) = numbers else { return writeln!(stream, "error read N COUNT") };
        let (mut next, mut left): (u64, usize) = (std::cmp::max(from, 1), count);
        left = left.min(MAX_READ);
        while left > 0 {
            let frame = self.lock().log.as_ref().map(|log| log.after(next - 1)).transpose();
            let Some(frame) = frame.map_err(io::Error::other)?.flatten() else { break };
            let wanted = (frame.first..).zip(frame.entries()).filter(|(at, _)| *at >= next).take(left);
            let mut text = Vec::new();
            for (at, entry) in wanted {
                text.extend_from_slice(format!("{at} ").as_bytes());
                text.extend_from_slice(entry);
                text.push(b'\n');
                left -= 1;
            }
            stream.write_all(&text)?;
            next = frame.last() + 1;
        }
        writeln!(stream, "end")
    }
}

/// A line without its end; none when there are no more. A line that is too long ends the connection.
fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_none() {
        let too_long = || io::Error::new(io::ErrorKind::InvalidData, "a line is too long, or was cut");
        return if line.is_empty() { Ok(None) } else { Err(too_long()) };
    }
    line.pop_if(|last| *last == b'\r');
    Ok(Some(line))
}

fn asking(rest: &[u8]) -> Option<Asking> {
    let mut words = std::str::from_utf8(rest).ok()?.split(' ');
    let (volume, term) = (words.next()?.to_owned(), words.next()?);
    let term = if term == "-" { String::new() } else { term.to_owned() };
    let (history, sequence, digest) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let position = if history == "-" {
        None
    } else {
        let history: History = history.parse().ok()?;
        Some(Position { history, sequence, digest: digest_of(digest)? })
    };
    Some(Asking { volume, term, position })
}

fn digest_of(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    if text.len() != 2 * digest.len() || !text.is_ascii() {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(digest)
}
