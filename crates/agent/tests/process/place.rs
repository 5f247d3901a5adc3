//! Where an agent lives in tests: a volume, an engine, certificates, and the process itself.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use muster_core::manager::command::{Action, Answer, Command};
use muster_core::manager::report::{Application, Held, Report, Running};
use muster_core::manager::roster::Roster;
use muster_core::manager::stamp::Stamp;
use muster_operator::agents::tls::Tls;
use muster_operator::agents::{Agent as Client, CallError, Peer, TlsDial};
use muster_operator::certificates::{
    AgentCa, ClusterName, MemberName, OperatorTls, SecretData, issue_member,
};
use muster_operator::clock::{SharedClock, SystemClock};
use muster_protocol::{Epoch, Instruction, Line, Neighbour, Outcome};
use rand::SeedableRng;
use rand::rngs::StdRng;

pub(crate) const MEMBER: &str = "orders-a-0";
/// What an engine is asked again and again.
const ASKED_OFTEN: [&str; 4] = ["status", "sequence", "devices", "freeStorage"];
/// How long anything may take that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(10);

static PLACES: AtomicU32 = AtomicU32::new(0);

/// A member's volume, engine and certificates. Dropped, it is removed.
pub(crate) struct Place {
    directory: PathBuf,
    /// Where the volume is, if it is not in the directory.
    pub(crate) volume: PathBuf,
    pub(crate) ca: AgentCa,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn cluster() -> ClusterName {
    ClusterName::new("shop", "orders")
}

pub(crate) fn member() -> MemberName {
    cluster().member(MEMBER)
}

pub(crate) fn chance() -> StdRng {
    StdRng::from_os_rng()
}

pub(crate) fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

impl Place {
    /// With an engine that has all actions.
    pub(crate) fn new() -> Self {
        Self::with(&["stop", "promote", "demote", "bootstrap", "join", "leave"])
    }

    /// With an engine that has these actions beside those it must have.
    pub(crate) fn with(optional: &[&str]) -> Self {
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-{}-{number}", std::process::id());
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        for part in ["volume/data", "config", "control", "tls"] {
            std::fs::create_dir_all(directory.join(part)).unwrap();
        }
        let ca = AgentCa::new(&cluster(), Timestamp::now(), &mut chance()).unwrap();
        let volume = directory.join("volume");
        let place = Self { directory, volume, ca };
        super::engine::write(&place.path("config"), &place.path("control"), optional);
        place.give_certificate(&place.ca);
        place
    }

    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.directory.join(part)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.volume.join("data")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.volume.join(".muster/state")
    }

    /// Gives the agent a new certificate of this authority.
    pub(crate) fn give_certificate(&self, ca: &AgentCa) {
        let issued = issue_member(ca, &member(), Timestamp::now(), &mut chance()).unwrap();
        self.put_certificate(&issued);
    }

    pub(crate) fn put_certificate(&self, issued: &SecretData) {
        for (name, content) in issued {
            std::fs::write(self.path("tls").join(name), &content.0).unwrap();
        }
    }

    /// What the engine was asked, in order, without what is asked all the time.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.path("control/log")).unwrap_or_default();
        log.lines().filter(|line| !ASKED_OFTEN.contains(line)).map(str::to_owned).collect()
    }

    /// How often the engine was asked this.
    pub(crate) fn asked(&self, action: &str) -> usize {
        let log = std::fs::read_to_string(self.path("control/log")).unwrap_or_default();
        log.lines().filter(|line| *line == action).count()
    }

    /// Waits until the engine was asked this.
    pub(crate) async fn until_logged(&self, action: &str) {
        until_so(&format!("{action} is under way"), || self.asked(action) > 0).await;
    }

    pub(crate) fn control(&self, name: &str) -> PathBuf {
        self.path("control").join(name)
    }

    /// Tells the engine something.
    pub(crate) fn tell(&self, name: &str, content: &str) {
        std::fs::write(self.control(name), content).unwrap();
    }

    pub(crate) fn untell(&self, name: &str) {
        std::fs::remove_file(self.control(name)).unwrap();
    }

    /// A number that the engine wrote.
    pub(crate) fn number(&self, name: &str) -> i32 {
        eventually(name, || std::fs::read_to_string(self.control(name)).ok()?.trim().parse().ok())
    }

    fn process(&self, program: &Path) -> Process {
        let mut process = Process::new(program);
        process
            .arg("run")
            .env("MUSTER_CLUSTER", "orders")
            .env("MUSTER_MEMBER", MEMBER)
            .env("MUSTER_NAMESPACE", "shop")
            .env("MUSTER_POD_UID", "uid")
            .env("MUSTER_ADDRESS", "127.0.0.1")
            .env("MUSTER_AGENT_LISTEN", "127.0.0.1:0")
            .env("MUSTER_PROBE_LISTEN", "127.0.0.1:0")
            .env("MUSTER_DATA", self.data())
            .env("MUSTER_VOLUME", &self.volume)
            .env("MUSTER_STORAGE", format!(r#"[{{"name":"data","path":"{}"}}]"#, self.volume.display()))
            .env("MUSTER_CONFIG", self.path("config"))
            .env("MUSTER_FILES", self.path("config"))
            .env("MUSTER_TLS", self.path("tls"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        process
    }

    /// Starts an agent here, and waits until it listens.
    pub(crate) fn start(&self) -> Living {
        self.start_program(Path::new(env!("CARGO_BIN_EXE_muster-agent")))
    }

    /// The same, with another build of it.
    pub(crate) fn start_program(&self, program: &Path) -> Living {
        let mut child = self.process(program).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (agent, probes) = loop {
            let line = lines.next().unwrap().unwrap();
            let Some(said) = line.strip_prefix("muster-agent: serves the operator on ") else { continue };
            let (agent, probes) = said.split_once(", probes on ").unwrap();
            break (agent.parse().unwrap(), probes.parse().unwrap());
        };
        // What it says from now on is also for whoever looks at a test that fails.
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| {
                eprintln!("{line}");
                heard.lock().unwrap().push(line);
            });
        });
        let client = client(agent, &self.ca, &clock());
        Living { child: Some(child), agent, probes, client, said }
    }

    /// Starts an agent here, and waits until it knows that nothing else lives.
    pub(crate) async fn start_and_settle(&self) -> Living {
        let living = self.start();
        living.until("it has looked", |line| line.report.application != Application::Unknown).await;
        living
    }
}

/// The operator's own client, with a certificate of this authority.
pub(crate) fn client(address: SocketAddr, ca: &AgentCa, clock: &SharedClock) -> Client {
    let tls = OperatorTls::new(ca, clock, &mut chance()).unwrap();
    let tls = Tls { config: tls.config(), name: member().server_name().unwrap() };
    let (cluster, member) = ("orders".to_owned(), MEMBER.to_owned());
    let peer = Peer { cluster, member, address: address.to_string(), tls: Some(tls) };
    Client::new(peer, Arc::new(TlsDial::default()))
}

/// An agent that runs. Dropped, it is killed.
pub(crate) struct Living {
    pub(crate) child: Option<Child>,
    pub(crate) agent: SocketAddr,
    pub(crate) probes: SocketAddr,
    pub(crate) client: Client,
    /// What it said since it listens.
    said: Arc<Mutex<Vec<String>>>,
}

impl Drop for Living {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Living {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.as_ref().unwrap().id()).unwrap()
    }

    /// How many sockets it has open.
    pub(crate) fn sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().flatten();
        let sockets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        sockets.filter(|file| file.to_string_lossy().starts_with("socket:")).count()
    }

    /// A figure of its memory, in kB, by the kernel's name for it.
    pub(crate) fn memory(&self, figure: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(figure)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// `kill -9`, and what is left of it is waited for.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            child.wait().unwrap();
        }
    }

    /// Asks until it can be reached.
    pub(crate) async fn line(&self) -> Line {
        let (end, mut pause) = (Instant::now() + PATIENCE, tokio::time::interval(LOOK));
        loop {
            match self.client.report(0).await {
                Ok(line) => return line,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            pause.tick().await;
        }
    }

    pub(crate) async fn report(&self) -> Report {
        self.line().await.report
    }

    /// Waits until it says something that has these words in it.
    pub(crate) async fn until_said(&self, words: &str) {
        let (end, mut pause) = (Instant::now() + PATIENCE, tokio::time::interval(LOOK));
        while !self.said.lock().unwrap().iter().any(|line| line.contains(words)) {
            assert!(Instant::now() < end, "it never said {words:?}");
            pause.tick().await;
        }
    }

    /// Waits until its line is so.
    pub(crate) async fn until(&self, what: &str, so: impl Fn(&Line) -> bool) -> Line {
        let (end, mut pause) = (Instant::now() + PATIENCE, tokio::time::interval(LOOK));
        loop {
            let line = self.line().await;
            if so(&line) {
                return line;
            }
            assert!(Instant::now() < end, "{what}: {line:#?}");
            pause.tick().await;
        }
    }

    /// Waits until its application runs like this.
    pub(crate) async fn until_running(&self, what: &str, so: impl Fn(&Running) -> bool) -> Report {
        self.until(what, |line| line.report.running().is_some_and(&so)).await.report
    }

    pub(crate) async fn epoch(&self, epoch: u64) -> Line {
        self.client.epoch(Epoch { epoch, round: 0 }).await.unwrap()
    }

    /// A command for this run.
    pub(crate) async fn order(&self, n: u64, action: Action) -> Instruction {
        let report = self.report().await;
        let roster = Roster::forming(Stamp::new(1, 1), MEMBER, &report.volume);
        let command = Command {
            stamp: Stamp::new(1, n),
            instance: report.instance,
            member: MEMBER.to_owned(),
            roster: Some(roster),
            action,
        };
        let peers = vec![
            Neighbour { member: "orders-a-1".into(), address: "10.0.0.1".into(), primary: true },
            Neighbour { member: "orders-a-2".into(), address: "10.0.0.2".into(), primary: false },
        ];
        Instruction { command, peers }
    }

    pub(crate) async fn command(&self, n: u64, action: Action) -> Result<Outcome, CallError> {
        self.client.command(&self.order(n, action).await).await
    }

    /// Commands, and expects this.
    pub(crate) async fn obeys(&self, n: u64, action: Action, succeeded: bool) {
        let outcome = self.command(n, action.clone()).await.unwrap();
        assert_eq!(outcome, Outcome::Obeyed(Answer { stamp: Stamp::new(1, n), succeeded }), "{action:?}");
    }

    /// The same, in another epoch.
    pub(crate) async fn obeys_at(&self, stamp: Stamp, action: Action, succeeded: bool) {
        let mut order = self.order(stamp.n, action).await;
        order.command.stamp = stamp;
        let outcome = self.client.command(&order).await.unwrap();
        assert_eq!(outcome, Outcome::Obeyed(Answer { stamp, succeeded }));
    }

    /// Forms a cluster, and waits until it serves.
    pub(crate) async fn seed(&self) -> Report {
        self.epoch(1).await;
        self.obeys(1, Action::Seed { forming: true }, true).await;
        self.until("it serves", |line| line.report.running().is_some_and(|it| it.synced)).await.report
    }

    /// Waits until it is stopped, and gives what it then holds.
    pub(crate) async fn until_stopped(&self) -> Held {
        let line = self.until("it is stopped", |line| line.report.application == Application::Stopped).await;
        line.report.held().unwrap().clone()
    }
}

/// Waits until this is so.
pub(crate) async fn until_so(what: &str, so: impl Fn() -> bool) {
    let (end, mut pause) = (Instant::now() + PATIENCE, tokio::time::interval(LOOK));
    while !so() {
        assert!(Instant::now() < end, "waited until {what}");
        pause.tick().await;
    }
}

/// Waits until there is something.
pub(crate) fn eventually<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let asking = || look().ok_or(what);
    muster_test_control_plane::eventually(Instant::now() + PATIENCE, asking).unwrap()
}

/// Waits until this process does not live.
pub(crate) fn until_dead(pid: i32) {
    eventually(&format!("{pid} is dead"), || (!lives(pid)).then_some(()));
}

/// Whether this process lives.
pub(crate) fn lives(pid: i32) -> bool {
    muster_agent::process::table::entry(pid).is_some_and(|entry| entry.state != 'Z')
}
