//! Starts the processes of containers, from one thread that lives as long as the runtime: the kernel kills a process whose parent
//! *thread* ends, so it may not be just any thread.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use super::logs::Log;
use crate::sandbox::{self, Order};

/// How long a sandbox may take to say its number; one that does not is killed with the Pod all the same.
const SETTLE_WITHIN: Duration = Duration::from_secs(30);
/// How often it is looked whether it did.
const SETTLE_STEP: Duration = Duration::from_millis(5);

/// How a sandbox is started: a program and its first arguments.
#[derive(Clone, Debug)]
pub struct Launcher(pub Vec<String>);

/// A process that is to be started.
struct Wanted {
    command: Command,
    started: oneshot::Sender<io::Result<Child>>,
}

/// The thread.
#[derive(Clone)]
pub(super) struct Spawner {
    launcher: Launcher,
    wanted: mpsc::Sender<Wanted>,
}

/// A process that was started.
pub(super) struct Process {
    pid_file: PathBuf,
    /// How it ended, once it has.
    pub(super) ended: oneshot::Receiver<io::Result<ExitStatus>>,
}

impl Spawner {
    pub(super) fn new(launcher: Launcher) -> Self {
        let (wanted, orders) = mpsc::channel::<Wanted>();
        std::thread::spawn(move || {
            for Wanted { mut command, started } in orders {
                // Nobody waits for it any more: it is killed with the child's handle below.
                if let Err(Ok(mut child)) = started.send(command.spawn()) {
                    drop(child.kill());
                    drop(child.wait());
                }
            }
        });
        Self { launcher, wanted }
    }

    /// Starts a sandbox with this order, which is written to this file; what it says goes to the log.
    pub(super) async fn start(&self, order: &Order, file: &Path, log: Log) -> io::Result<Process> {
        drop(std::fs::remove_file(&order.pid_file));
        write_private(file, &serde_json::to_vec(order)?)?;
        let Some((program, arguments)) = self.launcher.0.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        let given = sandbox::arguments(sandbox::own_number()?, file);
        command
            .args(arguments)
            .args(given)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (started, child) = oneshot::channel();
        self.wanted.send(Wanted { command, started }).map_err(io::Error::other)?;
        let mut child = child.await.map_err(io::Error::other)??;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let other = log.clone();
        std::thread::spawn(move || output.map(|output| log.copy("stdout", output)));
        std::thread::spawn(move || errors.map(|errors| other.copy("stderr", errors)));
        let (say, ended) = oneshot::channel();
        std::thread::spawn(move || drop(say.send(child.wait())));
        let mut process = Process { pid_file: order.pid_file.clone(), ended };
        process.settle().await;
        Ok(process)
    }
}

impl Process {
    /// Waits until it can be reached by signals, or has ended already.
    async fn settle(&mut self) {
        let until = Instant::now() + SETTLE_WITHIN;
        while self.pid().is_none() && Instant::now() < until {
            tokio::select! {
                ended = &mut self.ended => {
                    let (say, again) = oneshot::channel();
                    drop(say.send(ended.unwrap_or_else(|error| Err(io::Error::other(error)))));
                    self.ended = again;
                    return;
                }
                () = tokio::time::sleep(SETTLE_STEP) => {}
            }
        }
    }

    /// Sends a signal to the container's process, if it is there.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        if let Some(pid) = self.pid() {
            // It may have ended just now, and that is as good.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// The number of the container's process on this machine.
    pub(super) fn pid(&self) -> Option<rustix::process::Pid> {
        let text = std::fs::read_to_string(&self.pid_file).ok()?;
        rustix::process::Pid::from_raw(text.trim().parse().ok()?)
    }
}

/// A file that nobody else reads: an order holds what Secrets hold.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    drop(std::fs::remove_file(path));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}
