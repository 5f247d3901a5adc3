//! One story, told to both step by step.

use std::sync::OnceLock;
use std::time::Duration;

use kube::Client;
use muster_test_control_plane::{ControlPlane, ControllerManager, differences};
use serde_json::{Value, json};

use crate::stage::normal::{Objects, normal};
use crate::stage::{BOUND, Stage, Task};

/// Both, with the kubelets that are running.
pub(crate) struct Both {
    pub(crate) stages: [Stage; 2],
}

/// The real controller manager, one for all tests.
pub(crate) async fn real() -> Client {
    static MANAGER: OnceLock<ControllerManager> = OnceLock::new();
    let plane = ControlPlane::shared().unwrap();
    let client = plane.client().await.unwrap();
    MANAGER.get_or_init(|| {
        ControllerManager::start(&std::fs::read_to_string(plane.kubeconfig()).unwrap()).unwrap()
    });
    client
}

impl Both {
    pub(crate) async fn begin(namespace: &str) -> Self {
        let real = Stage::begin(real().await, namespace, Vec::new()).await;
        let mut ours = Stage::ours(namespace).await;
        ours.also(muster_local::workloads::run(ours.client.clone()));
        let time = "2026-01-01T00:00:00Z";
        let ready = json!({
            "type": "Ready", "status": "True", "reason": "KubeletReady",
            "lastHeartbeatTime": time, "lastTransitionTime": time,
        });
        // Without its node a Pod would be collected.
        let node = json!({"metadata": {"name": namespace}, "status": {"conditions": [ready]}});
        real.create("nodes", node.clone()).await;
        ours.create("nodes", node).await;
        Self { stages: [real, ours] }
    }

    pub(crate) fn kubelets(&self) -> [Task; 2] {
        self.stages.each_ref().map(Stage::kubelet)
    }

    pub(crate) async fn create(&self, plural: &str, object: Value) {
        for stage in &self.stages {
            stage.create(plural, object.clone()).await;
        }
    }

    pub(crate) async fn patch(&self, plural: &str, name: &str, patch: Value) {
        for stage in &self.stages {
            stage.patch(plural, name, patch.clone()).await;
        }
    }

    pub(crate) async fn until(&self, plural: &str, name: &str, is_so: impl Fn(&Value) -> bool) {
        for stage in &self.stages {
            stage.until(plural, name, &is_so).await;
        }
    }

    /// Waits until these collections hold the same on both.
    pub(crate) async fn same(&self, milestone: &str, collections: &[&'static str]) {
        let deadline = tokio::time::Instant::now() + BOUND / 2;
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        loop {
            ticks.tick().await;
            let mut sides = Vec::new();
            for stage in &self.stages {
                let mut objects = Objects::new();
                for plural in collections {
                    objects.insert(*plural, stage.list(plural).await);
                }
                sides.push(normal(&objects));
            }
            let found = differences(&sides[0], &sides[1]);
            if found.is_empty() {
                return;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "{milestone}: real and ours differ:\n{}",
                found.join("\n")
            );
        }
    }
}
