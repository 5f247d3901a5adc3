//! A directory, and `muster up` in it.

#![allow(dead_code, reason = "a stage offers more than one set of tests needs")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use muster_api::ReplicatedCluster;
use muster_test_assets::skip_part;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);
/// How long a second start on the same data may take until the cluster is Ready.
pub(crate) const SECOND_START: Duration = Duration::from_secs(20);
/// How often it is started again until one start is as quick as that: other programs of this machine make one slow, and rarely all.
const STARTS: usize = 4;
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(50);
/// How much of the log belongs to a failure.
const LOG_LINES: usize = 300;
/// Someone who may do nothing: `nobody` on most machines.
const NOBODY: u32 = 65534;
/// The last line of what it says when it is ready.
const LAST: &str = "Ctrl-C stops everything.";

pub(crate) struct Stage {
    pub(crate) root: PathBuf,
    /// Where it keeps everything.
    pub(crate) data: PathBuf,
    pub(crate) runtime: tokio::runtime::Runtime,
    user: Option<u32>,
    running: Option<Child>,
}

impl Stage {
    /// As whom it is tried: as who we are, and where we are root also as someone who is not.
    pub(crate) fn users() -> Vec<Option<u32>> {
        if let Some(nobody) = Self::nobody() {
            return vec![None, Some(nobody)];
        }
        skip_part("only root may also be someone else");
        vec![None]
    }

    /// Someone who is not root, if we can be anyone.
    pub(crate) fn nobody() -> Option<u32> {
        geteuid().is_root().then_some(NOBODY)
    }

    pub(crate) fn new(test: &str, user: Option<u32>) -> Self {
        let name = format!("muster-up-{test}-{}-{}", user.unwrap_or_default(), std::process::id());
        let root = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(&root).unwrap();
        // A copy that anyone can run, wherever this was built. By another process: what this one has open for writing, another
        // test's new process would have open too for a moment, and a program that someone may write to cannot be run.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_muster")).arg(root.join("muster")).status();
        assert!(copied.unwrap().success());
        if let Some(user) = user {
            chown(&root, Some(user), Some(user)).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { data: root.join("data"), root, user, running: None, runtime }
    }

    /// `muster up` with these arguments, in this directory.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.at_home(&self.root.join("muster"));
        command.arg("up").arg("--data-dir").arg(&self.data).args(arguments);
        command
    }

    /// A program as its user starts it.
    pub(crate) fn at_home(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("HOME", &self.root);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Starts it with a sample of this engine, and waits until that is Ready; what it then says.
    pub(crate) fn up(&mut self, engine: &str) -> String {
        self.start(self.command(&["--engine", engine]))
    }

    /// Starts it by this command, and waits until its sample is Ready; what it then says.
    pub(crate) fn start(&mut self, mut command: Command) -> String {
        let lines = lines(self.begin(command.stdout(Stdio::piped())).unwrap());
        let began = Instant::now();
        let mut ready: Vec<String> = Vec::new();
        while ready.last().is_none_or(|line| line != LAST) {
            match lines.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
                Ok(line) => ready.push(line),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended: {}", self.said()),
                Err(RecvTimeoutError::Timeout) => panic!("it is not ready: {}\n{}", self.said(), self.told()),
            }
        }
        println!("{}", self.said());
        ready.join("\n")
    }

    /// Starts it by this command, and waits for nothing; what it says on standard output is handed out, if that is piped.
    pub(crate) fn begin(&mut self, command: &mut Command) -> Option<ChildStdout> {
        let log = fs::File::create(self.root.join("said")).unwrap();
        let mut child = command.stderr(log).spawn().unwrap();
        let output = child.stdout.take();
        self.running = Some(child);
        output
    }

    /// Starts it again on its data, where it was killed or stopped in order, and says how long it takes until it is Ready.
    pub(crate) fn up_again(&mut self, engine: &str, after: &str) -> Duration {
        let began = Instant::now();
        self.up(engine);
        let took = began.elapsed();
        println!("ready again after {after}: {took:?} of {SECOND_START:?}");
        took
    }

    /// What was started again took so long each time. The best counts; where none was quick enough it is killed and started some more.
    pub(crate) fn is_quick_again(&mut self, engine: &str, mut took: Vec<Duration>) {
        while took.iter().all(|took| *took >= SECOND_START) {
            assert!(took.len() < STARTS, "starts on the same data took {took:?}");
            self.kill();
            took.push(self.up_again(engine, "another power cut"));
        }
    }

    /// The process that was started.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.running.as_ref().unwrap())
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.root.join("said")).unwrap()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn stop(&mut self) {
        self.interrupt();
        self.until_ended();
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&self) {
        kill_process(self.pid(), Signal::INT).unwrap();
    }

    /// Waits until it has ended, and well.
    pub(crate) fn until_ended(&mut self) {
        let ended = self.until_over();
        assert!(ended.success(), "{ended}: {}", self.said());
    }

    /// Waits until it has ended; how it did.
    pub(crate) fn until_over(&mut self) -> ExitStatus {
        let mut child = self.running.take().unwrap();
        let began = Instant::now();
        loop {
            if let Some(ended) = child.try_wait().unwrap() {
                return ended;
            }
            if began.elapsed() > PATIENCE {
                self.running = Some(child);
                panic!("it does not stop: {}\n{}", self.said(), self.told());
            }
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Ends it as a power cut does.
    pub(crate) fn kill(&mut self) {
        let mut child = self.running.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        self.until("all that it started is gone", |stage| stage.processes().is_empty());
    }

    /// The processes that were started from this directory.
    pub(crate) fn processes(&self) -> Vec<String> {
        let here = self.root.display().to_string();
        let mut found = Vec::new();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let own = process.file_name().to_string_lossy() == std::process::id().to_string();
            let mentions = |text: &[u8]| String::from_utf8_lossy(text).contains(&here);
            if !own && (mentions(&environment) || mentions(&command)) {
                found.push(String::from_utf8_lossy(&command).replace('\0', " "));
            }
        }
        found
    }

    pub(crate) fn until(&self, what: &str, test: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !test(self) {
            assert!(began.elapsed() < PATIENCE, "waited until {what}: {}", self.told());
            std::thread::park_timeout(PAUSE);
        }
    }

    /// What there is to say of it when something did not come.
    pub(crate) fn told(&self) -> String {
        let log = fs::read_to_string(self.data.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
        let status = match self.look() {
            Ok(cluster) => serde_json::to_string_pretty(&cluster.status).unwrap(),
            Err(error) => error.to_string(),
        };
        format!("{:#?}\n{status}\n{last}", self.processes())
    }

    pub(crate) fn kubernetes(&self) -> Client {
        let file = Kubeconfig::read_from(self.data.join("kubeconfig")).unwrap();
        self.runtime.block_on(async {
            let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
            Client::try_from(config).unwrap()
        })
    }

    pub(crate) fn cluster(&self) -> ReplicatedCluster {
        self.look().unwrap()
    }

    fn look(&self) -> kube::Result<ReplicatedCluster> {
        let clusters: Api<ReplicatedCluster> = Api::namespaced(self.kubernetes(), "default");
        self.runtime.block_on(clusters.get("demo"))
    }

    /// Whether it is Ready, and every member does what it should.
    pub(crate) fn is_whole(&self) -> bool {
        let conditions = self.cluster().status.map(|status| status.conditions).unwrap_or_default();
        let is_true = |name: &str| {
            conditions.iter().any(|condition| condition.type_ == name && condition.status == "True")
        };
        is_true("Ready") && is_true("Healthy")
    }

    /// The directories of the members' containers.
    pub(crate) fn containers(&self) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        for pod in fs::read_dir(self.data.join("pods")).unwrap().flatten() {
            let container = pod.path().join("containers/main");
            let order = fs::read_to_string(container.join("order")).unwrap_or_default();
            let after = order.split_once("\"MUSTER_MEMBER\",\"").map(|(_, after)| after);
            if let Some((member, _)) = after.and_then(|after| after.split_once('"')) {
                found.insert(member.to_owned(), container);
            }
        }
        found
    }

    /// A member's agent, which is the first process of its container.
    pub(crate) fn agent(&self, member: &str) -> Option<Pid> {
        let pid = fs::read_to_string(self.containers().get(member)?.join("pid")).ok()?;
        Pid::from_raw(pid.trim().parse().ok()?)
    }

    /// Kills a member's agent, and with it its application; says which process that was.
    pub(crate) fn kill_member(&self, member: &str) -> Pid {
        let agent = self.agent(member).unwrap_or_else(|| panic!("{member} has no agent"));
        kill_process(agent, Signal::KILL).unwrap();
        agent
    }
}

/// The lines of a process, as they come: nobody can wait for a line and a time at once.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut child) = self.running.take() {
            drop(child.kill());
            drop(child.wait());
        }
        drop(fs::remove_dir_all(&self.root));
    }
}
