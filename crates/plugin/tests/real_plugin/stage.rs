//! Where a test plays: a directory with kubectl and the plugin on the path, a namespace, and the operator's part.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use muster_test_assets::{Binary, locate};
use muster_test_control_plane::eventually;
use serde_json::{Value, json};

/// No command takes this long on a machine that is not broken.
const WITHIN: Duration = Duration::from_secs(120);

pub(crate) struct Stage {
    directory: PathBuf,
    kubeconfig: PathBuf,
    pub(crate) namespace: String,
    runs: AtomicUsize,
}

/// What a program said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Said {
    /// Demands success.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Demands this exit code, and these words in what it complains about.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in {self:?}");
        }
        self
    }

    /// Demands these words in the result.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.out.contains(word), "{word:?} is not in {}\n{}", self.out, self.err);
        }
        self
    }
}

/// A command that runs.
pub(crate) struct Going {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Going {
    /// Whether it has not ended.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Said {
        let ended =
            eventually(Instant::now() + WITHIN, || self.child.try_wait().unwrap().ok_or("it goes on"));
        let code = ended.ok().and_then(|status| status.code());
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        Said { out: read(&self.out), err: read(&self.err), code }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

impl Stage {
    pub(crate) fn new(name: &str, kubeconfig: &Path) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("bin")).unwrap();
        let plugin = env!("CARGO_BIN_EXE_kubectl-muster");
        let kubectl = locate().expect("the assets").path(Binary::Kubectl);
        symlink(kubectl, directory.join("bin/kubectl")).unwrap();
        symlink(plugin, directory.join("bin/kubectl-muster")).unwrap();
        symlink(plugin, directory.join("bin/kubectl_complete-muster")).unwrap();
        Self {
            directory,
            kubeconfig: kubeconfig.into(),
            namespace: name.to_owned(),
            runs: AtomicUsize::new(0),
        }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    pub(crate) fn create_namespace(&self) {
        self.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}));
    }

    /// Starts a program of the path, with this on its stdin.
    fn start(&self, program: &str, arguments: &[&str], input: Option<&str>) -> Going {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let path = |kind: &str| self.directory.join(format!("{run}.{kind}"));
        let stdin = match input {
            None => Stdio::null(),
            Some(text) => {
                fs::write(path("in"), text).unwrap();
                File::open(path("in")).unwrap().into()
            }
        };
        let bin = self.directory.join("bin");
        let child = Command::new(bin.join(program))
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", &bin)
            .env("HOME", &self.directory)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(stdin)
            .stdout(File::create(path("out")).unwrap())
            .stderr(File::create(path("err")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        Going { child, out: path("out"), err: path("err") }
    }

    /// `kubectl …`
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Said {
        self.start("kubectl", arguments, None).end()
    }

    /// `kubectl muster …` in the namespace, still running.
    pub(crate) fn begin(&self, words: &str) -> Going {
        let all: Vec<&str> =
            ["muster"].into_iter().chain(words.split_whitespace()).chain(["-n", &self.namespace]).collect();
        self.start("kubectl", &all, None)
    }

    /// `kubectl muster …` in the namespace.
    pub(crate) fn muster(&self, words: &str) -> Said {
        self.begin(words).end()
    }

    /// The same with something on stdin.
    pub(crate) fn muster_with(&self, words: &str, input: &str) -> Said {
        let all: Vec<&str> =
            ["muster"].into_iter().chain(words.split_whitespace()).chain(["-n", &self.namespace]).collect();
        self.start("kubectl", &all, Some(input)).end()
    }

    /// What kubectl asks when a person presses the key for completion.
    pub(crate) fn complete(&self, words: &[&str]) -> Said {
        self.start("kubectl_complete-muster", words, None).end()
    }

    /// Creates or changes an object.
    pub(crate) fn apply(&self, object: &Value) {
        let arguments = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        self.start("kubectl", &arguments, Some(&object.to_string())).end().succeeded();
    }

    /// The same as somebody else, who owns the fields then.
    pub(crate) fn apply_as(&self, manager: &str, object: &Value) {
        let manager = format!("--field-manager={manager}");
        let arguments = ["apply", "--server-side", &manager, "-f", "-"];
        self.start("kubectl", &arguments, Some(&object.to_string())).end().succeeded();
    }

    /// A cluster with one pool of this many members.
    pub(crate) fn cluster(&self, name: &str, nodes: u32) {
        self.apply(&cluster(name, &self.namespace, nodes));
    }

    /// A member of the pool `a`.
    pub(crate) fn member(&self, cluster: &str, ordinal: u32) {
        let name = format!("{cluster}-a-{ordinal}");
        let owner = self.get("rcl", cluster)["metadata"]["uid"].clone();
        let owner = json!({"apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "name": cluster,
            "uid": owner, "controller": true});
        self.apply(&json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "Member",
            "metadata": {"name": name, "namespace": self.namespace, "ownerReferences": [owner],
                "labels": {"muster.dev/cluster": cluster, "muster.dev/pool": "a", "muster.dev/member": name}},
            "spec": {"clusterName": cluster, "pool": "a",
                "storage": [{"pvcName": format!("data-{name}"), "claim": {"capacity": "1Gi"}}]},
        }));
    }

    /// An object as it is.
    pub(crate) fn get(&self, kind: &str, name: &str) -> Value {
        let said = self.kubectl(&["get", kind, name, "-n", &self.namespace, "-o", "json"]).succeeded();
        serde_json::from_str(&said.out).unwrap()
    }

    /// The operator writes a status.
    pub(crate) fn status(&self, kind: &str, name: &str, status: &Value) {
        let patch = json!({"status": status}).to_string();
        let arguments = [
            "patch",
            kind,
            name,
            "-n",
            &self.namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ];
        self.kubectl(&arguments).succeeded();
    }

    /// Merges this into an object.
    pub(crate) fn patch(&self, kind: &str, name: &str, patch: &Value) {
        let patch = patch.to_string();
        self.kubectl(&["patch", kind, name, "-n", &self.namespace, "--type=merge", "-p", &patch]).succeeded();
    }

    /// The operator's Lease, renewed this many seconds ago.
    pub(crate) fn lease(&self, seconds_ago: i64) {
        let renewed = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds_ago);
        self.apply(&json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "muster-operator", "namespace": self.namespace},
            "spec": {"holderIdentity": "op-1", "leaseDurationSeconds": 60,
                "renewTime": format!("{renewed:.6}")},
        }));
    }

    /// Waits until this is so of an object.
    pub(crate) fn until<T>(&self, kind: &str, name: &str, ask: impl Fn(&Value) -> Option<T>) -> T {
        let answer = eventually(Instant::now() + WITHIN, || {
            let object = self.get(kind, name);
            ask(&object).ok_or(object)
        });
        answer.unwrap_or_else(|object| panic!("it never came to be so: {object:#}"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// A cluster with one pool of this many members.
pub(crate) fn cluster(name: &str, namespace: &str, nodes: u32) -> Value {
    json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"engine": {"name": "plugin-engine"}, "pools": [
            {"name": "a", "threshold": {"nodes": nodes}, "storage": {"capacity": "1Gi", "storageClassName": "plugin"}}]},
    })
}

/// A condition as the operator writes it.
pub(crate) fn condition(kind: &str, status: &str, reason: &str, generation: i64) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": format!("{kind} for a reason"),
        "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z"})
}
