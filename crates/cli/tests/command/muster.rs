//! A `muster` that runs, and is gone after the test.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use muster_test_control_plane::eventually;

/// A start takes milliseconds; this allows for a machine that is busy compiling.
const SOON: Duration = Duration::from_secs(60);

/// The command, with nothing of this machine's environment that could matter.
pub(crate) fn muster(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_muster"));
    command.args(arguments).env_remove("XDG_DATA_HOME").env_remove("KUBECONFIG").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn output(arguments: &[&str]) -> Output {
    muster(arguments).output().unwrap()
}

/// A directory that is gone after the test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let thread = std::thread::current().name().unwrap_or_default().replace("::", "-");
        let path = std::env::temp_dir().join(format!("muster-cli-test-{thread}-{nanos}"));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of something in it.
    pub(crate) fn text(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An API server that is ready, or another of the programs.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// What an API server names in its line; of another program, the rest of that line.
    pub(crate) kubeconfig: PathBuf,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let all: Vec<&str> = ["apiserver"].iter().chain(arguments).copied().collect();
        Self::spawn(&mut muster(&all))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self::until_ready(command, "ready: KUBECONFIG=")
    }

    /// Starts a program, and waits for its line, which begins like this.
    pub(crate) fn until_ready(command: &mut Command, begins: &str) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(kubeconfig) = line.trim_end().strip_prefix(begins) else {
            let errors = child.wait_with_output().unwrap().stderr;
            panic!("{line:?}, and on stderr {:?}", String::from_utf8_lossy(&errors));
        };
        Self { kubeconfig: kubeconfig.into(), child, stdout }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits until it has ended; its exit code, and what it said on stdout after the first line.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let ended = || self.child.try_wait().unwrap().ok_or("it has not ended");
        let status = eventually(Instant::now() + SOON, ended).unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status.code(), rest)
    }

    pub(crate) async fn client(&self) -> kube::Client {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig).unwrap();
        let mut config =
            kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        config.proxy_url = None;
        kube::Client::try_from(config).unwrap()
    }

    /// The kubeconfig.
    pub(crate) fn identity(&self) -> serde_json::Value {
        let text = fs::read_to_string(&self.kubeconfig).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        let config = self.identity();
        let url = config["clusters"][0]["cluster"]["server"].as_str().unwrap();
        url.rsplit_once(':').unwrap().1.parse().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
