//! The shared API server with the CRDs installed, and the few calls that the tests make.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use muster_test_control_plane::{ControlPlane, eventually};
use serde_json::Value;

/// The namespace of objects that stay for a moment, so that they are in nobody's way.
pub(crate) const CHANGES: &str = "changes";
/// How long the API server may take to tell clients about a new kind.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(30);

/// The directory of the manifests that users install.
pub(crate) fn manifests() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds").display().to_string()
}

/// What kubectl said when it installed the CRDs, the way a user would.
pub(crate) struct Installed {
    pub(crate) plane: &'static ControlPlane,
    pub(crate) applied: Output,
    pub(crate) established: Output,
}

/// The API server with the CRDs; the first caller installs them.
pub(crate) fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let plane = ControlPlane::shared().unwrap();
        let applied = plane.kubectl(&["apply", "-f", &manifests()]).unwrap();
        let wait = ["wait", "--for=condition=Established", "--timeout=30s", "-f", &manifests()];
        let namespace = plane.kubectl(&["create", "namespace", CHANGES]).unwrap();
        assert!(namespace.status.success(), "{namespace:?}");
        let established = plane.kubectl(&wait).unwrap();
        // Discovery and the published schema follow a little later.
        for short in ["rcl.status", "mbr.status", "eng.status"] {
            let explained = || match plane.kubectl(&["explain", short]) {
                Ok(output) if output.status.success() => Ok(()),
                other => Err(other),
            };
            eventually(Instant::now() + PUBLISHED_WITHIN, explained).unwrap();
        }
        Installed { plane, applied, established }
    })
}

/// A problem that the API server names, with the indexes taken out of its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cause {
    pub(crate) field: String,
    pub(crate) message: String,
}

/// The API of one kind, in one namespace if it has one.
#[derive(Clone)]
pub(crate) struct Server {
    api: Api<DynamicObject>,
}

impl Server {
    pub(crate) async fn of(kind: &str) -> Self {
        Self::in_namespace(kind, "default").await
    }

    pub(crate) async fn in_namespace(kind: &str, namespace: &str) -> Self {
        let client = installed().plane.client().await.unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("muster.dev", "v1alpha1", kind));
        let api = match kind {
            "ReplicationEngine" => Api::all_with(client, &resource),
            _ => Api::namespaced_with(client, namespace, &resource),
        };
        Self { api }
    }

    fn parameters(dry_run: bool) -> PostParams {
        PostParams { dry_run, ..PostParams::default() }
    }

    pub(crate) async fn create(&self, object: &Value, dry_run: bool) -> Result<Value, Vec<Cause>> {
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        answer(self.api.create(&Self::parameters(dry_run), &object).await)
    }

    pub(crate) async fn replace(&self, object: &Value, dry_run: bool) -> Result<Value, Vec<Cause>> {
        let name = object["metadata"]["name"].as_str().unwrap();
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        answer(self.api.replace(name, &Self::parameters(dry_run), &object).await)
    }

    pub(crate) async fn replace_status(&self, object: &Value) -> Result<Value, Vec<Cause>> {
        let name = object["metadata"]["name"].as_str().unwrap();
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        answer(self.api.replace_status(name, &Self::parameters(true), &object).await)
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.api.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

fn answer(result: kube::Result<DynamicObject>) -> Result<Value, Vec<Cause>> {
    match result {
        Ok(object) => Ok(serde_json::to_value(object).unwrap()),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.map(|details| details.causes).unwrap_or_default();
            assert!(!causes.is_empty(), "refused without a cause: {}", status.message);
            let without_repeats: BTreeSet<_> = causes
                .into_iter()
                // The server says this beside the cause that kept it from evaluating rules.
                .filter(|cause| !cause.message.contains("some validation rules were not checked"))
                .map(|cause| Cause { field: cause.field, message: cause.message })
                .collect();
            Err(without_repeats.into_iter().collect())
        }
        Err(error) => panic!("{error}"),
    }
}

/// A path without indexes: `spec.pools[3].name` is `spec.pools[].name`. The root has no name of its own.
pub(crate) fn schema_path(field: &str) -> String {
    let mut path = String::new();
    let mut inside = false;
    for c in field.trim_start_matches("<nil>").chars() {
        inside = inside && c != ']';
        if !inside {
            path.push(c);
        }
        inside = inside || c == '[';
    }
    path
}
