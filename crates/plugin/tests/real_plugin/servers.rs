//! The two servers that every test speaks with, each with Muster's definitions.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, mpsc};

use muster_apiserver::serve::{self, Identity, Limits, kubeconfig};
use muster_apiserver::server::Server;
use muster_test_control_plane::ControlPlane;

use crate::stage::Stage;

/// Runs a test on both, in a namespace of its own.
pub(crate) fn on_both(name: &str, test: impl Fn(&Stage)) {
    for (server, kubeconfig) in [("ours", ours()), ("real", real())] {
        let stage = Stage::new(&format!("{name}-{server}"), kubeconfig);
        define(&stage, server);
        stage.create_namespace();
        test(&stage);
    }
}

/// Runs a test on a server of ours that nobody else uses: for what is done in all namespaces.
pub(crate) fn on_an_own_server(name: &str, test: impl Fn(&Stage)) {
    let stage = Stage::new(name, &start());
    stage.define();
    stage.create_namespace();
    test(&stage);
}

/// Runs a test on the real one, which tells people apart.
pub(crate) fn on_the_real_one(name: &str, test: impl Fn(&Stage)) {
    let stage = Stage::new(name, real());
    define(&stage, "real");
    stage.create_namespace();
    test(&stage);
}

fn real() -> &'static Path {
    ControlPlane::shared().expect("a real control plane").kubeconfig()
}

fn ours() -> &'static Path {
    static OURS: OnceLock<PathBuf> = OnceLock::new();
    OURS.get_or_init(start)
}

/// Starts one of ours, on a thread of this process, which it ends with; where its kubeconfig is.
fn start() -> PathBuf {
    let (said, hears) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let identity = Identity::in_memory().unwrap();
            let server = Server::builder().build().await;
            let running = serve::start(listener, &identity, Limits::default(), server).unwrap();
            let name = format!("kubeconfig-{}-{port}", std::process::id());
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            let _ = fs::remove_file(&path);
            kubeconfig::write(&path, &running.url(), &identity).unwrap();
            said.send(path).unwrap();
            std::future::pending::<()>().await;
        });
    });
    hears.recv().expect("our server")
}

/// Installs the definitions, once for each server.
fn define(stage: &Stage, server: &str) {
    static DEFINED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut defined = DEFINED.lock().unwrap();
    if defined.iter().any(|one| one == server) {
        return;
    }
    stage.define();
    defined.push(server.to_owned());
}

impl Stage {
    fn define(&self) {
        for crd in muster_api::crds() {
            self.apply(&serde_json::to_value(&crd).unwrap());
        }
        self.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).succeeded();
    }
}
