//! Starts the processes of containers, from one thread that lives as long as the runtime: the kernel kills a process whose parent
//! *thread* ends, so it may not be just any thread.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock, mpsc};

use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use super::left;
use super::logs::Log;
use crate::sandbox::{self, Identity, Order};

/// How long a sandbox may take to say its number; one that does not is killed with the Pod all the same.
const SETTLE_WITHIN: Duration = Duration::from_secs(30);
/// How often it is looked whether it did.
const SETTLE_STEP: Duration = Duration::from_millis(5);

/// How many processes of a container note who they are.
const BOTH: usize = 2;

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
    /// Which it is, for whoever sends it signals.
    pub(super) target: Target,
    /// How it ended, once it has, and nothing of it is left.
    pub(super) ended: oneshot::Receiver<io::Result<ExitStatus>>,
}

/// Which processes a container has, as they noted it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    noted: PathBuf,
    /// What was noted when both had done so: whoever removes the file does not take them out of reach.
    known: Arc<OnceLock<Vec<Identity>>>,
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
        for file in [&order.pid_file, &order.noted] {
            drop(std::fs::remove_file(file));
        }
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
        let target = Target { noted: order.noted.clone(), known: Arc::default() };
        let mut process = Process { target, ended };
        process.settle().await;
        Ok(process)
    }
}

impl Process {
    /// Waits until it can be reached by signals, or has ended already.
    async fn settle(&mut self) {
        let until = Instant::now() + SETTLE_WITHIN;
        while self.target.program().is_none() && Instant::now() < until {
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
}

impl Target {
    /// Sends a signal to the container's process, if it is there; to the one around it, if that is all there is.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        if let Some(process) = self.processes().last() {
            process.signal(signal);
        }
    }

    /// The process around the container's, and then the container's own, as far as they have noted who they are.
    fn processes(&self) -> Vec<Identity> {
        if let Some(known) = self.known.get() {
            return known.clone();
        }
        let noted = Identity::noted(&self.noted);
        if noted.len() < BOTH {
            return noted;
        }
        self.known.get_or_init(|| noted).clone()
    }

    /// The container's process.
    pub(super) fn program(&self) -> Option<Identity> {
        self.processes().into_iter().nth(1)
    }

    /// Waits until nothing of it is left, and sees to it. Mostly there is nothing: the process around it was the last.
    pub(super) async fn end(&self) {
        left::end_container(&self.processes()).await;
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
