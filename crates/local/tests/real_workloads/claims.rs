//! Claims beside the real controller manager: it binds them, we provide for them.

use std::path::PathBuf;

use muster_local::claims::{Options, directory_of, run};
use serde_json::{Value, json};

use crate::both::real;
use crate::stage::Stage;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn is(phase: &'static str) -> impl Fn(&Value) -> bool {
    move |it| it["status"]["phase"] == phase
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_one_binds_what_we_provide() {
    let scratch = Scratch(std::env::temp_dir().join(format!("muster-real-claims-{}", std::process::id())));
    let mut stage = Stage::begin(real().await, "provided", Vec::new()).await;
    let options = Options { directory: scratch.0.clone(), node: "here".to_owned(), binds: false };
    stage.also(run(stage.client.clone(), options));
    for (name, policy, mode) in
        [("provided-now", "Delete", "Immediate"), ("provided-later", "Retain", "WaitForFirstConsumer")]
    {
        let class = json!({
            "metadata": {"name": name}, "provisioner": "muster.dev/directory", "reclaimPolicy": policy,
            "volumeBindingMode": mode, "allowVolumeExpansion": true,
        });
        stage.create("storageclasses", class).await;
        let claim = json!({"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": name,
        }});
        stage.create("persistentvolumeclaims", claim).await;
    }
    let bound = stage.until("persistentvolumeclaims", "provided-now", is("Bound")).await;
    let waiting = stage.get("persistentvolumeclaims", "provided-later").await.unwrap();
    assert_eq!(waiting["status"]["phase"], "Pending");
    let used = json!({"name": "data", "persistentVolumeClaim": {"claimName": "provided-later"}});
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "volumes": [used],
    }});
    stage.create("pods", pod).await;
    stage.until("persistentvolumeclaims", "provided-later", is("Bound")).await;

    let name = bound["spec"]["volumeName"].as_str().unwrap();
    let volume = stage.until("persistentvolumes", name, is("Bound")).await;
    let path = directory_of(&serde_json::from_value(volume).unwrap()).unwrap();
    assert!(path.is_dir() && path.starts_with(&scratch.0));
    let more = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    stage.patch("persistentvolumeclaims", "provided-now", more).await;
    let has_more = |it: &Value| it["status"]["capacity"]["storage"] == "2Gi";
    stage.until("persistentvolumeclaims", "provided-now", has_more).await;
    stage.delete("persistentvolumeclaims", "provided-now").await;
    stage.until_gone("persistentvolumes", name).await;
    assert!(!path.exists());
}
