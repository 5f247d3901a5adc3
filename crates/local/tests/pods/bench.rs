//! A node on an API server of its own, in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use muster_apiserver::server::Server;
use muster_local::logs::{Growing, Logs};
use muster_local::pods::{self, Isolation, Launcher, Options};
use muster_test_control_plane::skip_part;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The node's name.
pub(crate) const NODE: &str = "here";

static BENCHES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) directory: PathBuf,
    growing: Growing,
    isolation: Isolation,
    node: Option<(watch::Sender<bool>, JoinHandle<()>)>,
    _controllers: JoinHandle<()>,
}

/// How this machine lets containers be kept apart: both ways where we are root.
pub(crate) fn isolations() -> Vec<Isolation> {
    if rustix::process::geteuid().is_root() {
        vec![Isolation::Paths, Isolation::Namespaces]
    } else {
        skip_part("only root may have namespaces");
        vec![Isolation::Paths]
    }
}

impl Bench {
    pub(crate) async fn new(test: &str, isolation: Isolation) -> Self {
        // Two tests may have the same word for what they do; each has a directory of its own.
        let number = BENCHES.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-local-{test}-{isolation:?}-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        drop(std::fs::remove_dir_all(&directory));
        std::fs::create_dir_all(directory.join("bin")).unwrap();
        let server = Server::builder().build().await;
        let client = Client::new(server.clone(), "default");
        muster_local::node::register(&client, NODE, None).await.unwrap();
        let controllers = tokio::spawn(muster_apiserver::controllers::run(server));
        let growing = Growing::default();
        let mut bench = Self { client, directory, growing, isolation, node: None, _controllers: controllers };
        bench.start_node();
        bench
    }

    pub(crate) fn start_node(&mut self) {
        let (stop, stopped) = watch::channel(false);
        let options = Options {
            client: self.client.clone(),
            node: NODE.into(),
            directory: self.directory.clone(),
            programs: self.directory.join("bin"),
            launcher: Launcher(vec![env!("CARGO_BIN_EXE_muster-sandbox").into()]),
            isolation: self.isolation,
            directory_of,
            schedules: true,
            growing: self.growing.clone(),
        };
        self.node = Some((stop, tokio::spawn(pods::run(options, stopped))));
    }

    pub(crate) async fn stop_node(&mut self) {
        let (stop, node) = self.node.take().unwrap();
        stop.send_replace(true);
        tokio::time::timeout(PATIENCE, node).await.unwrap().unwrap();
    }

    /// What containers say, as the API server asks for it.
    pub(crate) fn logs_of(&self) -> Logs {
        Logs::new(self.client.clone(), NODE.into(), &self.directory, self.growing.clone())
    }

    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Makes a Pod of this spec.
    pub(crate) async fn create(&self, name: &str, spec: Value) {
        let mut spec = spec;
        spec["serviceAccountName"] = "default".into();
        let pod = json!({"metadata": {"name": name, "labels": {"app": name}}, "spec": spec});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        self.pods().create(&PostParams::default(), &pod).await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.pods().delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Makes an object of a kind that has a namespace.
    pub(crate) async fn put<K>(&self, object: Value)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + serde::de::DeserializeOwned
            + serde::Serialize
            + Clone
            + std::fmt::Debug,
    {
        let object: K = serde_json::from_value(object).unwrap();
        let api: Api<K> = Api::namespaced(self.client.clone(), "default");
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// A claim `c` that is bound to a directory.
    pub(crate) async fn claim(&self, finalizers: &[&str]) {
        let directory = self.directory.join("volume");
        std::fs::create_dir_all(&directory).unwrap();
        let size = json!({"storage": "1Gi"});
        let volume = json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
            "spec": {"accessModes": ["ReadWriteOnce"], "capacity": size, "hostPath": {"path": directory}},
        });
        // The volume of a claim that was here before stays.
        let volumes: Api<PersistentVolume> = Api::all(self.client.clone());
        volumes.patch("v", &PatchParams::apply("test"), &Patch::Apply(volume)).await.unwrap();
        self.put::<PersistentVolumeClaim>(json!({
            "metadata": {"name": "c", "finalizers": finalizers},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "v", "resources": {"requests": size}},
        }))
        .await;
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(self.client.clone(), "default");
        let bound = json!({"status": {"phase": "Bound", "capacity": size}});
        claims.patch_status("c", &PatchParams::default(), &Patch::Merge(bound)).await.unwrap();
    }

    /// Waits until this is so of the Pod, whose status is shown otherwise.
    pub(crate) async fn until(&self, name: &str, what: &str, test: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let pod = self.pods().get_opt(name).await.unwrap();
            let pod = serde_json::to_value(&pod).unwrap();
            if test(&pod) {
                return pod;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "waited for {name} {what}: {}\n{}",
                serde_json::to_string_pretty(&pod["status"]).unwrap(),
                self.logs()
            );
            tokio::time::timeout(LOOK_EVERY, std::future::pending::<()>()).await.unwrap_err();
        }
    }

    pub(crate) async fn until_ready(&self, name: &str) -> Value {
        self.until(name, "to be ready", |pod| condition(pod, "Ready") == "True").await
    }

    pub(crate) async fn until_gone(&self, name: &str) {
        self.until(name, "to be gone", Value::is_null).await;
    }

    /// Waits until a file has this text.
    pub(crate) async fn until_text(&self, file: &Path, text: &str) {
        self.until_said(file, |said| said.trim() == text).await;
    }

    /// Waits until this is so of the text in a file.
    pub(crate) async fn until_said(&self, file: &Path, test: impl Fn(&str) -> bool) {
        let began = Instant::now();
        while !test(&std::fs::read_to_string(file).unwrap_or_default()) {
            assert!(
                began.elapsed() < PATIENCE,
                "{}: {:?}\n{}",
                file.display(),
                std::fs::read_to_string(file),
                self.logs()
            );
            tokio::time::timeout(LOOK_EVERY, std::future::pending::<()>()).await.unwrap_err();
        }
    }

    /// All that containers said.
    pub(crate) fn logs(&self) -> String {
        let mut all = String::new();
        for pod in std::fs::read_dir(self.directory.join("pods")).into_iter().flatten().flatten() {
            for container in std::fs::read_dir(pod.path().join("containers")).into_iter().flatten().flatten()
            {
                for file in std::fs::read_dir(container.path()).into_iter().flatten().flatten() {
                    if file.file_name().to_string_lossy().ends_with(".log") {
                        all += &std::fs::read_to_string(file.path()).unwrap_or_default();
                    }
                }
            }
        }
        all
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

fn directory_of(volume: &PersistentVolume) -> Option<PathBuf> {
    Some(volume.spec.as_ref()?.host_path.as_ref()?.path.clone().into())
}

pub(crate) fn condition<'a>(pod: &'a Value, kind: &str) -> &'a str {
    let conditions = pod["status"]["conditions"].as_array();
    let found = conditions.and_then(|all| all.iter().find(|condition| condition["type"] == kind));
    found.map_or("", |condition| condition["status"].as_str().unwrap_or_default())
}

/// A container that runs a shell script.
pub(crate) fn shell(name: &str, script: &str) -> Value {
    json!({"name": name, "image": "none", "command": ["sh", "-c", script]})
}
