//! A control plane, a node and an operator, each a process that can be killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use muster_test_assets::{Binary, locate};
use muster_test_control_plane::{ControlPlane, ControllerManager, Directory, Server, eventually};
use serde_json::json;

use super::PATIENCE;
use super::software::{NEXT_GALERA, Software};
use super::soundness::Soundness;

/// How often it is looked whether operator and node run.
const KEEP_EVERY: Duration = Duration::from_millis(500);

/// Which control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each target has one of them")]
pub(crate) enum Kind {
    /// `muster up`: everything in one process, but for the operator.
    Embedded,
    /// A real kube-apiserver and kube-controller-manager, and `muster node`.
    Real,
}

/// All of it.
pub(crate) struct World {
    kind: Kind,
    kubeconfig: PathBuf,
    directory: Directory,
    operator: Mutex<Option<Server>>,
    node: Mutex<Option<Server>>,
    soundness: Soundness,
    /// Held: it ends with this.
    manager: Option<ControllerManager>,
}

fn muster() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_muster"))
}

impl World {
    /// The one of this test process; the first caller starts it.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<World> = OnceLock::new();
        static KEPT: std::sync::Once = std::sync::Once::new();
        let world = SHARED.get_or_init(|| Self::start(crate::KIND));
        KEPT.call_once(|| drop(std::thread::spawn(move || world.keep())));
        world
    }

    fn start(kind: Kind) -> Self {
        let name = format!("muster-world-{}", std::process::id());
        let directory = Directory::create(std::env::temp_dir().join(name)).unwrap();
        let mut world = Self {
            kind,
            kubeconfig: directory.path().join("data/kubeconfig"),
            directory,
            operator: Mutex::default(),
            node: Mutex::default(),
            soundness: Soundness::default(),
            manager: None,
        };
        if kind == Kind::Real {
            let plane = ControlPlane::shared().unwrap();
            world.kubeconfig = plane.kubeconfig().to_owned();
            world.manager =
                Some(ControllerManager::start(&fs::read_to_string(plane.kubeconfig()).unwrap()).unwrap());
            world.install();
        }
        *lock(&world.node) = Some(world.start_node());
        if crate::SOFTWARE == Software::Galera {
            world.offer_another_version();
        }
        *lock(&world.operator) = Some(world.new_operator());
        world
    }

    /// What `muster up` installs by itself.
    fn install(&self) {
        for word in ["crds", "engines"] {
            let manifests = Command::new(muster()).arg(word).output().unwrap();
            let file = self.directory.path().join(word);
            fs::write(&file, manifests.stdout).unwrap();
            let deadline = Instant::now() + PATIENCE;
            // The engines wait until their definition is served.
            let apply = || self.try_kubectl(&["apply", "--server-side", "-f", &file.display().to_string()]);
            eventually(deadline, apply).unwrap();
        }
        self.try_kubectl(&["create", "namespace", "muster-system"]).unwrap();
    }

    /// Something to roll to, which has to be another version by name only: the images are those of this machine.
    fn offer_another_version(&self) {
        let version = json!({"version": NEXT_GALERA, "images": {"main": "mariadb:10.11"}});
        let patch = json!([{"op": "add", "path": "/spec/versions/-", "value": version}]).to_string();
        let offer = || self.try_kubectl(&["patch", "eng", "galera", "--type=json", "-p", &patch]);
        eventually(Instant::now() + PATIENCE, offer).unwrap();
    }

    fn start_node(&self) -> Server {
        let data = self.data().display().to_string();
        let mut words: Vec<String> = match self.kind {
            Kind::Embedded => ["up", "--no-sample", "--no-operator"].map(str::to_owned).into(),
            Kind::Real => {
                let plane = ControlPlane::shared().unwrap();
                let client = plane.kubelet_client().display().to_string();
                let kubeconfig = self.kubeconfig.display().to_string();
                let words = ["node", "--schedule", "--name", "here", "--client-ca", &client, "--kubeconfig"];
                words.iter().map(|word| (*word).to_owned()).chain([kubeconfig]).collect()
            }
        };
        words.extend(["--data-dir".to_owned(), data]);
        self.spawn("node", &words)
    }

    fn spawn(&self, name: &'static str, words: &[String]) -> Server {
        static STARTS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let start = STARTS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let log = self.directory.path().join(format!("{name}-{start}.log"));
        let mut server = Server::spawn(name, muster(), words, &log).unwrap();
        self.soundness.listen_to(log.clone());
        let deadline = Instant::now() + PATIENCE;
        let ready = eventually(deadline, || {
            server.check().unwrap();
            let said = fs::read_to_string(&log).unwrap_or_default();
            if said.lines().any(|line| line.starts_with("ready: ")) { Ok(()) } else { Err(said) }
        });
        ready.unwrap();
        server
    }

    fn new_operator(&self) -> Server {
        let words = ["operator", "--listen", "127.0.0.1:0", "--kubeconfig"].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain([self.kubeconfig.display().to_string()]).collect();
        self.spawn("operator", &words)
    }

    /// Kills the operator as a power cut does, and starts another.
    pub(crate) fn kill_operator(&self) {
        let mut operator = lock(&self.operator);
        drop(operator.take());
        *operator = Some(self.new_operator());
    }

    /// Waits until an operator leads that is not this one, and says which.
    pub(crate) fn until_another_leads(&self, before: &str) -> String {
        let holder = "jsonpath={.spec.holderIdentity}";
        let words = ["get", "lease", "muster-operator", "-n", "muster-system", "-o", holder];
        let another = || {
            let holder = self.try_kubectl(&words)?;
            if holder.is_empty() || holder == before { Err(format!("{holder:?} leads")) } else { Ok(holder) }
        };
        eventually(Instant::now() + PATIENCE, another).unwrap()
    }

    /// What a Deployment does: an operator that ended by itself is started again. It may have lost its Lease on a busy machine; for
    /// any other reason neither it nor the node may end.
    fn keep(&self) {
        loop {
            std::thread::park_timeout(KEEP_EVERY);
            self.soundness.listen();
            let ended = |server: &mut Option<Server>| server.as_mut().and_then(|server| server.check().err());
            if let Some(why) = ended(&mut lock(&self.node)) {
                self.soundness.is_broken(format!("the node ended by itself: {why}"));
            }
            let mut operator = lock(&self.operator);
            if let Some(why) = ended(&mut operator) {
                println!("the operator is started again: {why}");
                self.soundness.operator_ended(&why.to_string());
                drop(operator.take());
                *operator = Some(self.new_operator());
            }
        }
    }

    /// Fails where operator or node are not as they should be.
    pub(crate) fn assert_sound(&self) {
        self.soundness.assert();
    }

    /// Kills the node and all that runs on it as a power cut does, and starts it again. Only for who is alone in this world.
    pub(crate) fn kill_node(&self) {
        // Held: where the node is also the API server, an operator that ended cannot be started before it is back.
        let _operator = lock(&self.operator);
        let mut node = lock(&self.node);
        drop(node.take());
        // Whoever kills it does not see its last moment; its lock goes with it.
        let deadline = Instant::now() + PATIENCE;
        let gone = || fs::File::open(self.data().join("lock"))?.try_lock().map_err(std::io::Error::from);
        eventually(deadline, gone).unwrap();
        *node = Some(self.start_node());
    }

    /// Where the node keeps Pods and volumes.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// kubectl, or our plugin of it.
    pub(crate) fn kubectl(&self, words: &[&str]) -> Output {
        let kubectl = locate().unwrap().path(Binary::Kubectl);
        let plugin = self.data().join("bin/kubectl-muster");
        let (program, words) = match words {
            ["muster", rest @ ..] => (plugin, rest),
            _ => (kubectl, words),
        };
        let mut command = Command::new(program);
        command.args(words).env("KUBECONFIG", &self.kubeconfig).env("HOME", self.directory.path());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// What it says, or what it complains about.
    pub(crate) fn try_kubectl(&self, words: &[&str]) -> Result<String, String> {
        let output = self.kubectl(words);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        Err(format!("{words:?}: {}{}", text(&output.stdout), text(&output.stderr)))
    }

    /// The last lines of what operator and node say.
    pub(crate) fn logs(&self) -> String {
        let tail = |server: &Mutex<Option<Server>>| {
            lock(server).as_ref().map(|server| format!("{}:\n{}\n", server.name(), server.log_tail()))
        };
        [&self.operator, &self.node].into_iter().filter_map(tail).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
