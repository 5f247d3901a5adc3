//! The servers that are compared, each with the definitions of the suite.

use std::future::Future;
use std::sync::OnceLock;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use muster_apiserver::server::Server;
use muster_test_control_plane::ControlPlane;

use crate::case;
use crate::run;

/// Runs something to its end, on a runtime of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// The real server, ready for cases.
pub(crate) fn real() -> &'static ControlPlane {
    static READY: OnceLock<&'static ControlPlane> = OnceLock::new();
    READY.get_or_init(|| {
        let plane = ControlPlane::shared().unwrap();
        block_on(async { prepare(&client_of(plane).await).await });
        plane
    })
}

/// A second real server, to hold the first against.
pub(crate) fn another() -> ControlPlane {
    let plane = ControlPlane::start().unwrap();
    block_on(async { prepare(&client_of(&plane).await).await });
    plane
}

/// A client of a real server that asks once, whatever the answer.
pub(crate) async fn client_of(plane: &ControlPlane) -> Client {
    let kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.proxy_url = None; // loopback, whatever the environment says of proxies
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// Our server, ready for cases.
pub(crate) async fn ours() -> Server {
    let server = Server::builder().build().await;
    prepare(&client_of_ours(&server)).await;
    server
}

/// A client of our server, without a socket.
pub(crate) fn client_of_ours(server: &Server) -> Client {
    Client::new(server.clone(), "default")
}

/// Makes the definitions that all cases share.
async fn prepare(client: &Client) {
    for answer in run::run(&case::setup(), client).await {
        assert!(answer.code < 300, "{} gave {}: {}", answer.asked.line, answer.code, answer.body);
    }
}
