//! The leader's Lease on a real kube-apiserver: what the elector relies on is so there too.

#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use muster_operator::clock::SystemClock;
use muster_operator::lease::{Authority, Elector, Error, Identity, Options, Others, Timing};
use muster_test_control_plane::ControlPlane;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

struct Process {
    authority: Authority,
    task: JoinHandle<Result<(), Error>>,
    shutdown: oneshot::Sender<()>,
}

impl Process {
    fn start(client: &kube::Client, namespace: &str) -> Self {
        let identity = Identity::fresh("real", &mut rand::rng());
        let [period, deadline, duration] = [500, 2_000, 3_000].map(Duration::from_millis);
        let timing = Timing::new(period, deadline, duration).unwrap();
        let options = Options { timing, ..Options::new(Some(namespace), identity) };
        let elector = Elector::new(client.clone(), options, Arc::new(SystemClock));
        let authority = elector.authority();
        let (shutdown, told) = oneshot::channel();
        let task = tokio::spawn(async move {
            let told = async {
                let _ = told.await;
            };
            elector.run(told).await
        });
        Self { authority, task, shutdown }
    }

    /// Waits until it leads under an epoch above this one.
    async fn leads_above(&self, epoch: u64) -> u64 {
        let mut epochs = self.authority.epochs();
        let above = epochs.wait_for(|now| now.is_some_and(|now| now > epoch));
        timeout(PATIENCE, above).await.expect("nobody leads").unwrap().unwrap()
    }
}

async fn namespace(client: &kube::Client, name: &str) -> Api<Lease> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    namespaces.create(&PostParams::default(), &object).await.unwrap();
    Api::namespaced(client.clone(), name)
}

async fn patch(leases: &Api<Lease>, patch: Value) {
    leases.patch("muster-operator", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

#[tokio::test]
async fn a_lease_is_taken_kept_lost_and_given_back_on_a_real_server() {
    let client = ControlPlane::shared().unwrap().client().await.unwrap();
    let leases = namespace(&client, "real-lease").await;
    let one = Process::start(&client, "real-lease");
    let first = one.leads_above(0).await;
    let other = Process::start(&client, "real-lease");

    leases.delete("muster-operator", &DeleteParams::default()).await.unwrap();
    let second = tokio::select! {
        epoch = one.leads_above(first) => epoch,
        epoch = other.leads_above(first) => epoch,
    };
    patch(&leases, json!({"metadata": {"annotations": {"muster.dev/epoch": "garbled"}}})).await;
    let third = tokio::select! {
        epoch = one.leads_above(second) => epoch,
        epoch = other.leads_above(second) => epoch,
    };
    let (leader, follower) = if one.authority.now().is_ok() { (one, other) } else { (other, one) };

    leader.shutdown.send(()).unwrap();
    leader.task.await.unwrap().unwrap();
    let fourth = follower.leads_above(third).await;
    let lease = leases.get("muster-operator").await.unwrap();
    assert_eq!(lease.metadata.annotations.unwrap()["muster.dev/epoch"], fourth.to_string());

    follower.shutdown.send(()).unwrap();
    follower.task.await.unwrap().unwrap();
    let spec = leases.get("muster-operator").await.unwrap().spec.unwrap();
    let released = (spec.holder_identity.unwrap_or_default(), spec.lease_duration_seconds);
    assert_eq!(released, (String::new(), Some(1)));
}

#[tokio::test]
async fn leases_of_other_operators_are_seen_on_a_real_server() {
    let client = ControlPlane::shared().unwrap().client().await.unwrap();
    let leases = namespace(&client, "real-lease-others").await;
    let others = Others::new(client.clone(), "muster-system");
    let mut known = others.namespaces();
    let task = tokio::spawn(others.run());
    timeout(PATIENCE, known.wait_for(Option::is_some)).await.unwrap().unwrap();
    let object = serde_json::from_value(json!({"metadata": {"name": "muster-operator"}})).unwrap();
    leases.create(&PostParams::default(), &object).await.unwrap();
    let seen = known.wait_for(|all| all.as_ref().is_some_and(|all| all.contains("real-lease-others")));
    timeout(PATIENCE, seen).await.expect("it is not seen").unwrap();
    task.abort();
}
