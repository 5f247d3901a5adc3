//! The process around a container's process: it dies with the runtime, and gives the container what it is to see.
//!
//! ```text
//! runtime ─ spawns ─▶ sandbox ── without namespaces: stays as guard ─▶ a second guard ─▶ sandbox, inside ─▶ becomes the program
//!                        └────── with them: becomes unshare(1) ─▶ sandbox, inside ─ mounts ─▶ becomes the program, process 1
//! ```
//!
//! The kernel kills each of them when the one before it dies, and everything in a process namespace with its process 1. A guard is told
//! instead, and kills everything that the program started. Either way the one around the program ends last. There are two guards because
//! one that is killed can end nothing any more: what it had goes to the other.

mod guard;
mod identity;
mod inside;
mod parent;
mod stat;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

pub use self::identity::Identity;
use self::parent::Parent;

/// The argument that tells the sandbox that it is inside already.
const INSIDE: &str = "--inside";
/// The argument that tells the sandbox that it is the second guard.
const SECOND: &str = "--second";

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// As whom, if not as the runtime itself.
    pub user: Option<u32>,
    /// With which group.
    pub group: Option<u32>,
    /// With which other groups.
    pub groups: Vec<u32>,
    /// Where the process writes the number that it has on this machine.
    pub pid_file: PathBuf,
    /// Where the process around it, and then it itself, note who they are.
    pub noted: PathBuf,
    /// What it sees; none: what everyone sees.
    pub view: Option<View>,
}

/// What a container sees in a mount namespace of its own: the machine's files, with changes that it makes to itself, and its volumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// An empty directory to build it in.
    pub scratch: PathBuf,
    /// What is mounted, in this order.
    pub mounts: Vec<Mount>,
    /// The name of the machine.
    pub hostname: String,
}

/// A directory or file of this machine, at another place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Where it is.
    pub from: PathBuf,
    /// Where it is seen.
    pub at: PathBuf,
    /// Whether it cannot be changed.
    pub read_only: bool,
}

/// Why a container's process cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The order cannot be read.
    #[error("cannot read {0}: {1}")]
    Order(PathBuf, #[source] io::Error),
    /// A step failed.
    #[error("cannot {0}: {1}")]
    Step(String, #[source] io::Error),
    /// There is no such program.
    #[error("cannot run {0}: {1}")]
    Program(String, #[source] io::Error),
}

/// What a sandbox exits with when the program could not be started, as shells do.
pub const NOT_STARTED: u8 = 127;

/// The arguments with which a sandbox is started by the process of this number, as [`own_number`] says it.
pub fn arguments(parent: i32, file: &Path) -> [OsString; 2] {
    [parent.to_string().into(), file.into()]
}

/// The number that this process has on the machine: `/proc` is the machine's here, whatever namespace this is in.
pub fn own_number() -> io::Result<i32> {
    let number = std::fs::read_link("/proc/self")?;
    number.to_str().and_then(|number| number.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Becomes what the order says. `given` are the arguments after the word that led here: whether it is inside already, who started it,
/// and the file; `again` is how to come here again.
pub fn run(given: &[String], again: &[String]) -> Result<Infallible, SandboxError> {
    let (parent, file, inner) = match given {
        [flag, parent, file] if flag == INSIDE || flag == SECOND => (parent, Path::new(file), Some(flag)),
        [parent, file] => (parent, Path::new(file), None),
        _ => return Err(SandboxError::Order(PathBuf::new(), io::ErrorKind::InvalidInput.into())),
    };
    let parent = parent.parse().map_err(|error| step("find out its parent")(io::Error::other(error)))?;
    let mut parent = Parent::bind(parent)?;
    let unreadable = |error| SandboxError::Order(file.to_owned(), error);
    let order: Order = std::fs::read(file)
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::other))
        .map_err(unreadable)?;
    match (inner.map(String::as_str), &order.view) {
        (Some(SECOND), _) => return guard::stay(INSIDE, file, again),
        (Some(_), _) => {}
        (None, view) => {
            note(&order)?;
            return if view.is_some() {
                become_unshare(file, again)
            } else {
                guard::stay(SECOND, file, again)
            };
        }
    }
    // A session of its own: what it starts can be found, and a key pressed in the terminal is not meant for it.
    rustix::process::setsid().map_err(|error| step("begin a session")(error.into()))?;
    note_program(&order)?;
    if let Some(view) = &order.view {
        inside::enter(view)?;
    }
    become_program(&order, &mut parent)
}

fn become_unshare(file: &Path, again: &[String]) -> Result<Infallible, SandboxError> {
    let number = own_number().map_err(step("find out its number"))?;
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--pid", "--uts", "--fork", "--kill-child=SIGKILL", "--"]);
    unshare.args(again).arg(INSIDE).args(arguments(number, file));
    Err(SandboxError::Program("unshare".into(), unshare.exec()))
}

/// Notes who this process is.
fn note(order: &Order) -> Result<(), SandboxError> {
    let identity = Identity::own().map_err(step("find out who it is"))?;
    identity.note(&order.noted).map_err(step("note who it is"))
}

/// The same of the process that becomes the program. Its number comes first: when it is noted, everything is.
fn note_program(order: &Order) -> Result<(), SandboxError> {
    let number = own_number().map_err(step("find out its number"))?;
    std::fs::write(&order.pid_file, number.to_string()).map_err(step("write its number"))?;
    note(order)
}

fn become_program(order: &Order, parent: &mut Parent) -> Result<Infallible, SandboxError> {
    std::env::set_current_dir(&order.directory)
        .map_err(step(&format!("go to {}", order.directory.display())))?;
    take_identity(order)?;
    parent.bind_again()?;
    let Some((program, arguments)) = order.command.split_first() else {
        return Err(SandboxError::Program(String::new(), io::ErrorKind::InvalidInput.into()));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(order.environment.iter().map(|(name, value)| (name, value)));
    // Where the program is found is the container's to say.
    Err(SandboxError::Program(program.clone(), command.exec()))
}

fn take_identity(order: &Order) -> Result<(), SandboxError> {
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    if order.user.is_none() && order.group.is_none() {
        return Ok(());
    }
    let groups: Vec<_> = order.groups.iter().map(|group| rustix::process::Gid::from_raw(*group)).collect();
    set_thread_groups(&groups).map_err(|error| step("take its groups")(error.into()))?;
    if let Some(group) = order.group.map(rustix::process::Gid::from_raw) {
        set_thread_res_gid(group, group, group).map_err(|error| step("take its group")(error.into()))?;
    }
    if let Some(user) = order.user.map(rustix::process::Uid::from_raw) {
        set_thread_res_uid(user, user, user).map_err(|error| step("take its user")(error.into()))?;
    }
    Ok(())
}

fn step(what: &str) -> impl Fn(io::Error) -> SandboxError + use<> {
    let what = what.to_owned();
    move |error| SandboxError::Step(what.clone(), error)
}
