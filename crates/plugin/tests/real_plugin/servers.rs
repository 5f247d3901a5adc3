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

fn real() -> &'static Path {
    ControlPlane::shared().expect("a real control plane").kubeconfig()
}

/// Ours, on a thread of this process, which it ends with.
fn ours() -> &'static Path {
    static OURS: OnceLock<PathBuf> = OnceLock::new();
    OURS.get_or_init(|| {
        let (said, hears) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
                let identity = Identity::in_memory().unwrap();
                let server = Server::builder().build().await;
                let running = serve::start(listener, &identity, Limits::default(), server).unwrap();
                let path =
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kubeconfig-{}", std::process::id()));
                let _ = fs::remove_file(&path);
                kubeconfig::write(&path, &running.url(), &identity).unwrap();
                said.send(path).unwrap();
                std::future::pending::<()>().await;
            });
        });
        hears.recv().expect("our server")
    })
}

/// Installs the definitions, once for each server.
fn define(stage: &Stage, server: &str) {
    static DEFINED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut defined = DEFINED.lock().unwrap();
    if defined.iter().any(|one| one == server) {
        return;
    }
    for crd in muster_api::crds() {
        stage.apply(&serde_json::to_value(&crd).unwrap());
    }
    stage.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).succeeded();
    defined.push(server.to_owned());
}
