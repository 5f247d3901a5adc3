//! How an action speaks to the running process: a socket beside the log, one line each way.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::node::{Node, Status};
use crate::surroundings::Electorate;

const NAME: &str = "control";
/// How long either side may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest line: a roster's volumes, with room to spare.
const MAX_LINE: u64 = 1024 * 1024;

/// What the process is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// How are you?
    Status,
    /// Become primary.
    Promote {
        /// In this term.
        term: String,
        /// The volumes whose copies count.
        voters: Vec<String>,
        /// How many of them.
        copies: usize,
    },
    /// Become secondary.
    Demote,
    /// Count copies by this.
    CountBy {
        /// The volumes whose copies count.
        voters: Vec<String>,
        /// How many of them.
        copies: usize,
    },
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Response {
    /// This.
    Status(Status),
    /// It is done.
    Done,
    /// It is not, and why.
    Refused(String),
}

/// Answers actions from now on.
pub fn listen(node: &Arc<Node>) -> io::Result<()> {
    let (_directory, path) = short_path(&node.told().data)?;
    // What an earlier process left: only one runs on a volume, which the agent sees to.
    drop(std::fs::remove_file(&path));
    let listener = UnixListener::bind(&path)?;
    let node = Arc::clone(node);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let node = Arc::clone(&node);
            std::thread::spawn(move || drop(answer(&node, stream)));
        }
    });
    Ok(())
}

/// Asks the process that runs on this data; none when there is none.
pub fn ask(data: &Path, request: &Request) -> io::Result<Option<Response>> {
    let Ok((_directory, path)) = short_path(data) else { return Ok(None) };
    let mut stream = match UnixStream::connect(&path) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    send(&mut stream, request)?;
    receive(&stream).map(Some)
}

fn answer(node: &Node, mut stream: UnixStream) -> io::Result<()> {
    let electorate =
        |voters: Vec<String>, copies| Electorate { voters: voters.into_iter().collect(), copies };
    let done = match receive(&stream)? {
        Request::Status => return send(&mut stream, &Response::Status(node.status())),
        Request::Promote { term, voters, copies } => node.promote(&term, electorate(voters, copies)),
        Request::Demote => node.demote(),
        Request::CountBy { voters, copies } => {
            node.count_by(electorate(voters, copies));
            Ok(())
        }
    };
    let response = done.map_or_else(|error| Response::Refused(error.to_string()), |()| Response::Done);
    send(&mut stream, &response)
}

fn send(stream: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn receive<T: serde::de::DeserializeOwned>(stream: &UnixStream) -> io::Result<T> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_LINE)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// The socket's path by way of an open directory: a socket's path has at most 107 bytes, a data directory's has not.
fn short_path(data: &Path) -> io::Result<(File, PathBuf)> {
    let directory = File::open(data)?;
    let path = format!("/proc/self/fd/{}/{NAME}", directory.as_raw_fd());
    Ok((directory, path.into()))
}
