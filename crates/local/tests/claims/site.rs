//! A stage with classes and a data directory of its own, which goes with it.

use std::path::PathBuf;

use kube::api::PostParams;
use muster_local::claims::{Options, classes, run};
use serde_json::{Value, json};

use crate::stage::Stage;

pub(crate) struct Site {
    pub(crate) stage: Stage,
    pub(crate) options: Options,
}

impl Drop for Site {
    fn drop(&mut self) {
        // Only what a test that failed has left mounted.
        for volume in
            std::fs::read_dir(self.options.directory.join("volumes")).into_iter().flatten().flatten()
        {
            if is_root() {
                let _ = std::process::Command::new("umount").arg("-q").arg(volume.path()).status();
            }
        }
        let _ = std::fs::remove_dir_all(&self.options.directory);
    }
}

impl Site {
    /// A server with the classes, and claims served in a directory of this name.
    pub(crate) async fn new(name: &str) -> Self {
        let stage = Stage::ours("c").await;
        let directory = std::env::temp_dir().join(format!("muster-claims-{name}-{}", std::process::id()));
        let options = Options { directory, node: "here".to_owned(), binds: true };
        for class in classes() {
            let api: kube::Api<k8s_openapi::api::storage::v1::StorageClass> =
                kube::Api::all(stage.client.clone());
            api.create(&PostParams::default(), &class).await.unwrap();
        }
        let mut site = Self { stage, options };
        site.serve();
        site
    }

    pub(crate) fn serve(&mut self) {
        self.stage.also(run(self.stage.client.clone(), self.options.clone()));
    }

    /// What happens when the process is killed: all tasks but the server's end.
    pub(crate) fn crash(&mut self) {
        self.stage.tasks.truncate(1);
    }

    pub(crate) async fn claim(&self, name: &str, class: Option<&str>, size: &str) {
        let mut claim = json!({"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
        }});
        if let Some(class) = class {
            claim["spec"]["storageClassName"] = class.into();
        }
        self.stage.create("persistentvolumeclaims", claim).await;
    }

    /// A Pod of this node that uses a claim: one without a node would not keep its claim from going.
    pub(crate) async fn pod(&self, name: &str, claim: &str) {
        let volume = json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}});
        let pod = json!({"metadata": {"name": name}, "spec": {
            "nodeName": self.options.node, "containers": [{"name": "c", "image": "i"}], "volumes": [volume],
        }});
        self.stage.create("pods", pod).await;
    }

    pub(crate) async fn end_pod(&self, name: &str) {
        let now = kube::api::DeleteParams::default().grace_period(0);
        self.stage.api("pods").delete(name, &now).await.unwrap();
        self.stage.until_gone("pods", name).await;
    }

    /// Waits until a claim is bound; its volume.
    pub(crate) async fn bound(&self, claim: &str) -> Value {
        let bound = |it: &Value| it["status"]["phase"] == "Bound";
        let claim = self.stage.until("persistentvolumeclaims", claim, bound).await;
        let volume = claim["spec"]["volumeName"].as_str().unwrap();
        self.stage.until("persistentvolumes", volume, bound).await
    }

    /// Waits for a warning of this reason, and gives its text.
    pub(crate) async fn warned(&self, reason: &str) -> String {
        let is_it = |it: &&Value| it["reason"] == reason && it["type"] == "Warning";
        let events = self.stage.until_all("events", |all| all.iter().any(|it| is_it(&it))).await;
        events.iter().find(is_it).unwrap()["message"].as_str().unwrap().to_owned()
    }
}

/// The directory of a volume.
pub(crate) fn directory(volume: &Value) -> PathBuf {
    let volume = serde_json::from_value(volume.clone()).unwrap();
    muster_local::claims::directory_of(&volume).unwrap()
}

pub(crate) fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}
