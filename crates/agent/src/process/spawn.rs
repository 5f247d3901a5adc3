//! Starting a process: it is made, identified, allowed to go, and known to be its program or not.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::child::{GO, Orders};
use super::table;
use crate::memory::Process;

/// How long a child may take to become its program: it does next to nothing before.
const BECOMING: Duration = Duration::from_secs(10);
/// The longest reason why it did not.
const REASON_MAX: u64 = 1024;

/// The processes that someone waits for, so that nobody else does.
#[derive(Clone, Debug, Default)]
pub struct Family(Arc<Mutex<Vec<i32>>>);

impl Family {
    /// Whether someone waits for it.
    pub fn has(&self, pid: i32) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&pid)
    }

    fn add(&self, pid: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
    }

    fn remove(&self, pid: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != pid);
    }
}

/// How to start a process.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The agent's own program.
    pub program: PathBuf,
    /// The command.
    pub command: Vec<String>,
    /// What is added to the environment.
    pub environment: Vec<(String, String)>,
    /// The lock it holds, if it works on the data.
    pub lock: Option<PathBuf>,
}

/// A process that was made and waits for the word to go. Dropped, it is killed with its group.
pub struct Waiting {
    running: Running,
    socket: UnixStream,
}

/// A process that runs. Dropped, it is killed with its group.
pub struct Running {
    child: Child,
    pid: i32,
    family: Family,
    gone: bool,
}

impl Recipe {
    /// Makes the process. To be called in the thread that lives as long as the agent: its end is what children die of.
    pub fn spawn(&self, family: &Family) -> io::Result<Waiting> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let parent = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        let orders = Orders { parent, lock: self.lock.clone(), command: self.command.clone() };
        let mut command = Command::new(&self.program);
        command
            .arg("child")
            .args(orders.arguments())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn()?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| io::Error::other("it has no number"))?;
        family.add(pid);
        let running = Running { child, pid, family: family.clone(), gone: false };
        Ok(Waiting { running, socket: UnixStream::from_std(ours)? })
    }
}

impl Waiting {
    /// What tells it from every other process.
    pub fn identity(&self) -> Option<Process> {
        table::identify(self.running.pid)
    }

    /// Lets it go, and waits until it is its program.
    pub async fn go(mut self) -> io::Result<Running> {
        let becoming = async {
            self.socket.write_all(&[GO]).await?;
            let mut why = String::new();
            (&mut self.socket).take(REASON_MAX).read_to_string(&mut why).await?;
            if why.is_empty() { Ok(()) } else { Err(io::Error::other(why)) }
        };
        match tokio::time::timeout(BECOMING, becoming).await {
            Ok(Ok(())) => Ok(self.running),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::Error::other("it did not start in time")),
        }
    }
}

impl Running {
    /// Its number.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// What it says, once.
    pub fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits for its end, and kills what is left of its group. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        if !self.gone {
            self.gone = true;
            kill_group(self.pid);
            self.family.remove(self.pid);
        }
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.gone {
            kill_group(self.pid);
            self.family.remove(self.pid);
        }
    }
}

/// Sends a signal to a process that was not waited for yet.
pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended.
        let _ = kill_process(pid, signal);
    }
}

/// Kills all of a process's group, which has its number.
pub fn kill_group(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // None of it may be left.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}
