//! An API server with a kube-controller-manager of its own: ours or the real one.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use muster_apiserver::serve::{self, Identity, Limits, Running, kubeconfig};
use muster_apiserver::server::Server;
use muster_test_control_plane::{ControlPlane, ControllerManager, eventually};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::kubelet;
use crate::world::World;

/// What controllers do takes a second or two; this allows for a machine that is busy compiling.
const BOUND: Duration = Duration::from_secs(60);

/// A server with a kube-controller-manager.
pub(crate) struct Plane {
    runtime: Runtime,
    client: kube::Client,
    manager: ControllerManager,
    /// Ours serves for as long as this is held.
    _running: Option<Running>,
}

static OURS: LazyLock<Plane> = LazyLock::new(|| {
    let runtime = runtime();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let identity = Identity::in_memory().unwrap();
    let running = runtime.block_on(async {
        let server = Server::builder().build().await;
        serve::start(listener, &identity, Limits::default(), server).unwrap()
    });
    let kubeconfig = kubeconfig::text(&running.url(), &identity);
    Plane::start(runtime, &kubeconfig, Some(running))
});

static REAL: LazyLock<Plane> = LazyLock::new(|| {
    let plane = ControlPlane::shared().unwrap();
    Plane::start(runtime(), &std::fs::read_to_string(plane.kubeconfig()).unwrap(), None)
});

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

impl Plane {
    /// Our server, without its own controllers.
    pub(crate) fn ours() -> &'static Self {
        &OURS
    }

    /// The real one.
    pub(crate) fn real() -> &'static Self {
        &REAL
    }

    fn start(runtime: Runtime, kubeconfig: &str, running: Option<Running>) -> Self {
        let manager = ControllerManager::start(kubeconfig).unwrap();
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
            let options = KubeConfigOptions::default();
            let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
            config.proxy_url = None; // loopback, whatever the environment says of proxies
            kube::Client::try_from(config).unwrap()
        });
        let plane = Self { runtime, client, manager, _running: running };
        kubelet::make_nodes(&plane);
        plane.until_so("/api/v1/namespaces/default/serviceaccounts/default", &|account| {
            account["metadata"]["uid"].is_string()
        });
        plane
    }
}

impl World for Plane {
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(path).header("Content-Type", kind);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.runtime.block_on(async {
            let answer = self.client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into())
        })
    }

    fn until(&self, is_so: &mut dyn FnMut() -> Result<(), Value>) {
        if let Err(last) = eventually(Instant::now() + BOUND, is_so) {
            panic!("it never came to this: {last:#}\n{}", self.manager.log_tail());
        }
    }

    /// What never had an owner is collected after all that was to be collected before it.
    fn settle(&self) {
        let maps = "/api/v1/namespaces/default/configmaps";
        let owner = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": "never",
            "uid": "99999999-2222-3333-4444-555555555555",
        });
        let canary = json!({"metadata": {"generateName": "canary-", "ownerReferences": [owner]}});
        let made = self.create(maps, &canary);
        self.until_gone(&format!("{maps}/{}", made["metadata"]["name"].as_str().unwrap()));
    }
}

impl Plane {
    /// What the controllers said last.
    pub(crate) fn log_tail(&self) -> String {
        self.manager.log_tail()
    }
}

/// How long something may take, from now.
pub(crate) fn deadline() -> Instant {
    Instant::now() + BOUND
}
