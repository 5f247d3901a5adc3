//! Processes and directories that never outlive the test process, however it ends.
//!
//! Each is guarded by a small shell that reads from a pipe whose other end this process holds. When this
//! process ends, be it by `kill -9`, the kernel closes the pipe and the guard acts. Statics are never
//! dropped and a parent-death signal is bound to one thread; a pipe has neither weakness.

use crate::Error;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Runs a server; kills the whole process group when the server ends or the pipe on stdin closes.
/// No process ids are kept, so none can be stale.
const SERVER_GUARD: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -KILL 0; } &
wait "$server"
kill -KILL 0
"#;

/// Removes a directory once the pipe on stdin closes. Servers that are just being killed may still write, so it tries
/// for 5 s.
const DIRECTORY_GUARD: &str = r#"
cat >/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit 0; sleep 0.5; done
exit 1
"#;

/// Lines of a server's log that an error shows.
const LOG_TAIL_LINES: usize = 25;

/// Spawns a guard in a process group of its own, so that Ctrl-C at a terminal reaches the test process only.
fn spawn_guard(command: &mut Command, doing: &str) -> Result<Child, Error> {
    command.stdin(Stdio::piped()).process_group(0).spawn().map_err(Error::io(doing))
}

/// Closes the pipe and waits until the guard has acted.
fn release(guard: &mut Child) {
    drop(guard.stdin.take());
    // It can only fail if the guard is gone already, which is what is wanted.
    let _ = guard.wait();
}

/// A server process. It is killed when this is dropped, or the test process ends.
#[derive(Debug)]
pub struct Server {
    name: &'static str,
    guard: Child,
    log: PathBuf,
}

impl Server {
    /// Starts a server; its output goes to `log`.
    pub fn spawn(name: &'static str, binary: &Path, arguments: &[String], log: &Path) -> Result<Self, Error> {
        let doing = || format!("open {}", log.display());
        let output = File::create(log).map_err(Error::io(doing()))?;
        let errors = output.try_clone().map_err(Error::io(doing()))?;
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut command = Command::new("sh");
        command.args(["-c", SERVER_GUARD, name]).arg(binary).args(arguments);
        // Nothing of the environment but PATH: etcd takes every ETCD_… variable for a flag.
        command.env_clear().env("PATH", path).stdout(output).stderr(errors);
        let guard = spawn_guard(&mut command, &format!("start {name}"))?;
        Ok(Self { name, guard, log: log.to_owned() })
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// An error if the server has ended.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.guard.try_wait().map_err(Error::io(format!("ask for {}", self.name)))? {
            None => Ok(()),
            Some(_) => Err(Error::Ended { server: self.name, log: self.log_tail() }),
        }
    }

    /// The last lines of its log.
    pub fn log_tail(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        release(&mut self.guard);
    }
}

/// A directory, private to this user.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    guard: Child,
}

impl Directory {
    /// Makes it; it goes when this is dropped, or the test process ends.
    pub fn create(path: PathBuf) -> Result<Self, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", DIRECTORY_GUARD, "guard"]).arg(&path).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = spawn_guard(&mut command, "start the guard of the directory")?;
        let directory = Self { path, guard };
        let doing = format!("create {}", directory.path.display());
        DirBuilder::new().mode(0o700).create(&directory.path).map_err(Error::io(doing))?;
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        release(&mut self.guard);
    }
}
