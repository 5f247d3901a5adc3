//! A real server, an account that has exactly the operator's roles there, and a world in a namespace of its own.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use muster_operator::clock::SystemClock;
use muster_operator::rbac;
use muster_test_agents::Pace;
use muster_test_agents::kubelet::Part;
use muster_test_control_plane::ControlPlane;
use muster_test_world::{Process, World};
use serde_json::Value;

/// Real time is dear: agents and applications are quick.
const QUICK: Pace = Pace {
    message: Duration::from_millis(1),
    looking: Duration::from_millis(40),
    starting: Duration::from_millis(40),
    copying: Duration::from_millis(10),
    no_route: Duration::from_millis(500),
    heartbeat: Some(muster_protocol::HEARTBEAT),
};

/// The server that tests in namespaces of their own share.
pub(crate) fn shared() -> &'static ControlPlane {
    ControlPlane::shared().expect("a real control plane")
}

/// A world on this server.
pub(crate) async fn world(plane: &ControlPlane, namespace: &str, only_kubelet: bool, seed: u64) -> World {
    let admin = plane.client().await.unwrap();
    let part = Part { namespace: Some(namespace.to_owned()), only_kubelet, collects: !only_kubelet };
    let mut world = World::new(admin, namespace, Arc::new(SystemClock), QUICK, part, seed).await;
    world.patience = Duration::from_secs(90);
    world
}

/// A world with an operator that has exactly the role for its namespace.
pub(crate) struct Scene {
    pub(crate) world: World,
    operator: Process,
}

/// A cluster of so many members that is live.
pub(crate) async fn live(namespace: &str, seed: u64, nodes: i64) -> Scene {
    let plane = shared();
    let world = world(plane, namespace, false, seed).await;
    let access = account(plane, &rbac::for_namespace(namespace), namespace).await;
    let operator = Process::start(world.setup(&access, Some(namespace), seed));
    world.create("orders", nodes).await;
    world.ready("orders").await;
    Scene { world, operator }
}

impl Scene {
    pub(crate) async fn end(self) {
        self.operator.stop().await;
        self.world.unharmed();
    }
}

/// What kubectl says; it must succeed.
pub(crate) fn kubectl(plane: &ControlPlane, arguments: &[&str], input: Option<&str>) -> String {
    let output = match input {
        Some(input) => plane.kubectl_with_input(arguments, input),
        None => plane.kubectl(arguments),
    };
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Installs these roles, and gives access to the account in this namespace and to nothing else.
pub(crate) async fn account(plane: &ControlPlane, roles: &str, namespace: &str) -> Client {
    {
        // What holds for all namespaces is the same in all of them, and only one of two that create it at once can.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock();
        kubectl(plane, &["apply", "-f", "-"], Some(roles));
    }
    let token = kubectl(plane, &["create", "token", "muster-operator", "-n", namespace], None);
    let text = fs::read_to_string(plane.kubeconfig()).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["users"][0]["user"]["token"] = token.trim().into();
    let file: Kubeconfig = serde_json::from_value(file).unwrap();
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    config.proxy_url = None;
    Client::try_from(config).unwrap()
}
