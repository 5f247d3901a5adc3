//! The Node object of this machine: registered, and kept alive by a Lease as kubelets do.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::control::{Error, bounded};

/// The machine's own address, as Pods and clients see it.
pub const ADDRESS: &str = "127.0.0.1";
/// Where the Leases of nodes are.
const LEASES: &str = "kube-node-lease";
/// Who writes these fields.
const MANAGER: &str = "muster-node";
/// How often the node says that it lives.
const RENEW: Duration = Duration::from_secs(10);
/// How long it counts as alive without saying so, in seconds.
const LEASE_SECONDS: i32 = 40;
/// How often the whole status is said again, in renewals: five minutes.
const STATUS_EVERY: u32 = 30;
/// How many Pods it takes, as kubelets do.
const MAX_PODS: u32 = 110;

/// Registers the node, and keeps it alive for as long as it is polled.
pub async fn run(client: Client, name: String, port: Option<u16>) {
    let mut renewals = 0;
    loop {
        let said = if renewals % STATUS_EVERY == 0 { register(&client, &name, port).await } else { Ok(()) };
        let said = match said {
            Ok(()) => renew(&client, &name).await,
            failed => failed,
        };
        match said {
            Ok(()) => {
                renewals += 1;
                tokio::time::sleep(RENEW).await;
            }
            Err(error) => {
                tracing::warn!(node = %name, %error, "the node cannot say that it lives");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Writes the Node as it is. `port` is where an API server asks for logs; None: nowhere.
pub async fn register(client: &Client, name: &str, port: Option<u16>) -> Result<(), Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": architecture(),
        }},
    });
    let params = PatchParams::apply(MANAGER).force();
    bounded(nodes.patch(name, &params, &Patch::Apply(&node))).await?;
    let mut status = status(name);
    if let Some(port) = port {
        status["daemonEndpoints"] = json!({"kubeletEndpoint": {"Port": port}});
    }
    let status = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status});
    bounded(nodes.patch_status(name, &params, &Patch::Apply(&status))).await.map(drop)
}

fn status(name: &str) -> Value {
    let now = Timestamp::from_second(Timestamp::now().as_second()).ok();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = rustix::system::sysinfo();
    let memory = memory.totalram * u64::from(memory.mem_unit) / 1024;
    let room =
        json!({"cpu": processors.to_string(), "memory": format!("{memory}Ki"), "pods": MAX_PODS.to_string()});
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        })
    };
    json!({
        "capacity": room, "allocatable": room,
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": name}],
        "conditions": [
            condition("Ready", "True", "KubeletReady", "Pods run as processes of this machine"),
            condition("MemoryPressure", "False", "NotMeasured", "memory is not watched"),
            condition("DiskPressure", "False", "NotMeasured", "disks are not watched"),
            condition("PIDPressure", "False", "NotMeasured", "processes are not counted"),
        ],
        "nodeInfo": {
            "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": kernel(), "osImage": "Linux",
            "containerRuntimeVersion": concat!("muster://", env!("CARGO_PKG_VERSION")),
            "kubeletVersion": concat!("v", env!("CARGO_PKG_VERSION")), "kubeProxyVersion": "",
            "operatingSystem": "linux", "architecture": architecture(),
        },
    })
}

async fn renew(client: &Client, name: &str) -> Result<(), Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), LEASES);
    let now = Timestamp::now();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
        "spec": {
            "holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": format!("{now:.6}"),
        },
    });
    let params = PatchParams::apply(MANAGER).force();
    match bounded(leases.patch(name, &params, &Patch::Apply(&lease))).await {
        Err(error) if error.is_not_found() => make_namespace(client).await,
        renewed => renewed.map(drop),
    }
}

async fn make_namespace(client: &Client) -> Result<(), Error> {
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": LEASES}})).map_err(kube::Error::SerdeError)?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match bounded(namespaces.create(&PostParams::default(), &namespace)).await {
        Err(error) if error.already_exists() => Ok(()),
        made => made.map(drop),
    }
}

fn kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The architecture in Kubernetes' words.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
