//! An API server that does not answer holds nobody up for long, and what it refused is tried again. Nothing runs here, so time can be
//! made to pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use kube::{Api, Client};
use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::{Fault, Faults, Seen};
use muster_local::logs::Growing;
use muster_local::pods::{self, Isolation, Launcher, Options};
use serde_json::json;
use tokio::sync::watch;

use super::bench::NODE;

/// Longer than anybody waits.
const NEVER: Duration = Duration::from_secs(24 * 3600);
/// Longer than a few calls may take.
const SOON: Duration = Duration::from_secs(300);

/// Leaves every status that is written unanswered, once it is told to; and how often.
#[derive(Default)]
struct Hanging {
    hangs: AtomicBool,
    asked: AtomicU32,
}

impl Faults for Hanging {
    fn request(&self, request: &Seen) -> Fault {
        if request.subresource.as_deref() != Some("status") || !self.hangs.load(Ordering::SeqCst) {
            return Fault::None;
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        Fault::Delay(NEVER)
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_gets_no_answer_asks_again_and_stops_when_it_is_told() {
    let hanging = Arc::new(Hanging::default());
    let server = Server::builder().faults(hanging.clone()).build().await;
    let client = Client::new(server, "default");
    muster_local::node::register(&client, NODE, None).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let options = options(&client, "hangs", false);
    let directory = options.directory.clone();
    let node = tokio::spawn(pods::run(options, stopped));
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    hanging.hangs.store(true, Ordering::SeqCst);
    pods.create(&PostParams::default(), &pod(Some(NODE))).await.unwrap();
    let asked_again = async {
        while hanging.asked.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(SOON, asked_again).await.unwrap();
    stop.send_replace(true);
    tokio::time::timeout(SOON, node).await.unwrap().unwrap();
    let registered = muster_local::node::register(&client, NODE, None);
    let registered = tokio::time::timeout(SOON, registered).await.unwrap();
    assert!(matches!(registered, Err(muster_local::Error::TimedOut)), "{registered:?}");
    drop(std::fs::remove_dir_all(directory));
}

/// Refuses the first binding.
#[derive(Default)]
struct Refusing(AtomicU32);

impl Faults for Refusing {
    fn request(&self, request: &Seen) -> Fault {
        let is_binding = request.subresource.as_deref() == Some("binding");
        if is_binding && self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            return Fault::Before(ApiError::new(Reason::InternalError, "not now"));
        }
        Fault::None
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_binding_failed_is_given_its_node_later() {
    let refusing = Arc::new(Refusing::default());
    let client = Client::new(Server::builder().faults(refusing.clone()).build().await, "default");
    muster_local::node::register(&client, NODE, None).await.unwrap();
    let (_stop, stopped) = watch::channel(false);
    let options = options(&client, "refuses", true);
    let directory = options.directory.clone();
    let node = tokio::spawn(pods::run(options, stopped));
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    pods.create(&PostParams::default(), &pod(None)).await.unwrap();
    let bound = async {
        while pods.get("one").await.unwrap().spec.unwrap().node_name.is_none() {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(SOON, bound).await.unwrap();
    assert!(refusing.0.load(Ordering::SeqCst) >= 2);
    node.abort();
    drop(std::fs::remove_dir_all(directory));
}

/// A Pod that never starts.
fn pod(node: Option<&str>) -> Pod {
    let container = json!({"name": "main", "image": "none", "command": ["no-such-command-anywhere"]});
    let spec = json!({"nodeName": node, "containers": [container], "serviceAccountName": "default"});
    serde_json::from_value(json!({"metadata": {"name": "one"}, "spec": spec})).unwrap()
}

fn options(client: &Client, test: &str, schedules: bool) -> Options {
    let directory = std::env::temp_dir().join(format!("muster-local-{test}-{}", std::process::id()));
    Options {
        client: client.clone(),
        node: NODE.into(),
        programs: directory.join("bin"),
        directory,
        launcher: Launcher(Vec::new()),
        isolation: Isolation::Paths,
        directory_of: |_| None,
        schedules,
        growing: Growing::default(),
    }
}
