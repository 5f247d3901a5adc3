//! What a child does between being made and becoming its program: `muster-agent child`, started by the agent and by nobody else.
//!
//! Its standard input is one end of a pair of sockets. It waits there for the word to go, which comes when its number is on disk; what
//! keeps it from becoming its program it says there; and the end of the connection says that it has.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use super::lock;

/// The word to go.
pub const GO: u8 = b'g';
/// The first descriptor that is not a standard one.
const FIRST_FREE: i32 = 3;
/// As shells have it: a program that cannot be run.
const CANNOT_RUN: u8 = 126;

/// What a child is told.
#[derive(Debug)]
pub struct Orders {
    /// The agent.
    pub parent: i32,
    /// The lock that it takes for good, if it works on the data.
    pub lock: Option<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl Orders {
    /// As arguments, after `child`.
    pub fn arguments(&self) -> Vec<String> {
        let lock = self.lock.as_ref().map(|path| path.display().to_string());
        let mut arguments = vec![self.parent.to_string(), lock.unwrap_or_default()];
        arguments.extend(self.command.iter().cloned());
        arguments
    }

    /// From arguments.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let parent = arguments.next()?.parse().ok()?;
        let lock = arguments.next().filter(|path| !path.is_empty()).map(PathBuf::from);
        let command: Vec<String> = arguments.collect();
        (!command.is_empty()).then_some(Self { parent, lock, command })
    }
}

/// Becomes the program, or ends.
pub fn run(orders: &Orders) -> ExitCode {
    // From here on the agent's end is this process's, and its program's.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return ExitCode::from(CANNOT_RUN);
    }
    if getppid().map(Pid::as_raw_pid) != Some(orders.parent) {
        // It ended before that.
        return ExitCode::from(CANNOT_RUN);
    }
    let Ok(mut agent) = take_socket() else { return ExitCode::from(CANNOT_RUN) };
    let mut word = [0];
    if agent.read_exact(&mut word).is_err() || word != [GO] {
        return ExitCode::from(CANNOT_RUN);
    }
    let why = match become_program(orders) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    // Nobody listens if this fails, and then nobody is left to tell.
    let _ = agent.write_all(why.as_bytes());
    ExitCode::from(CANNOT_RUN)
}

/// The socket, which the program will not have; it has an empty input instead.
fn take_socket() -> io::Result<UnixStream> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_FREE)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(UnixStream::from(socket))
}

fn become_program(orders: &Orders) -> Result<std::convert::Infallible, String> {
    if let Some(path) = &orders.lock {
        lock::share_for_good(path).map_err(|error| format!("the volume cannot be locked: {error}"))?;
    }
    let (program, arguments) = orders.command.split_first().ok_or("there is no program")?;
    let error = Command::new(program).args(arguments).exec();
    Err(format!("{program}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back_as_they_were_written() {
        for lock in [None, Some(PathBuf::from("/v/.muster/process.lock"))] {
            let orders = Orders { parent: 7, lock, command: vec!["sh".into(), "-c".into(), String::new()] };
            let read = Orders::from_arguments(orders.arguments().into_iter()).unwrap();
            assert_eq!((read.parent, read.lock, read.command), (7, orders.lock, orders.command));
        }
        assert!(Orders::from_arguments(["7".to_owned(), String::new()].into_iter()).is_none());
    }
}
