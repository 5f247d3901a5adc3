//! The real API server, and requests to it.

use std::sync::OnceLock;

use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::Request as Call;
use muster_test_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::kinds::{Kind, synthetic};

/// What is asked of both sides.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) write: Write,
    pub(crate) manager: String,
    pub(crate) subresource: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) enum Write {
    Create(Value),
    Apply { config: Value, force: bool },
    Merge(Value),
    Json(Value),
    Strategic(Value),
    Replace(Value),
}

/// A refusal, with its causes in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) message: String,
    pub(crate) causes: Vec<(String, String)>,
}

/// The server with the CRDs of the project and the synthetic one.
pub(crate) fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<&'static ControlPlane> = OnceLock::new();
    PLANE.get_or_init(|| {
        let plane = ControlPlane::shared().unwrap();
        let ours = format!("{}/../../deploy/crds", env!("CARGO_MANIFEST_DIR"));
        let run = |arguments: &[&str], input: &str| {
            let output = plane.kubectl_with_input(arguments, input).unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        run(&["apply", "-f", "-"], &synthetic().to_string());
        run(&["apply", "-f", &ours], "");
        run(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"], "");
        plane
    })
}

/// One object on the real server.
pub(crate) struct Server {
    client: Client,
    path: String,
    name: String,
}

impl Server {
    pub(crate) async fn of(kind: &Kind, name: &str) -> Self {
        let namespace = if kind.namespaced { "/namespaces/default" } else { "" };
        let root = if kind.api_version.contains('/') { "apis" } else { "api" };
        let path = format!("/{root}/{}{namespace}/{}", kind.api_version, kind.plural);
        Self { client: plane().client().await.unwrap(), path, name: name.into() }
    }

    pub(crate) async fn send(&self, request: &Request) -> Result<Value, Refusal> {
        let call = Call::new(&self.path);
        let manager = Some(request.manager.clone());
        let post = PostParams { field_manager: manager.clone(), ..PostParams::default() };
        let mut patch = PatchParams { field_manager: manager, ..PatchParams::default() };
        let (body, content) = match &request.write {
            Write::Create(object) => {
                let call = call.create(&post, object.to_string().into_bytes()).unwrap();
                return answer(self.client.request::<Value>(call).await);
            }
            Write::Replace(object) => {
                let body = object.to_string().into_bytes();
                let call = match request.subresource {
                    "" => call.replace(&self.name, &post, body),
                    subresource => call.replace_subresource(subresource, &self.name, &post, body),
                };
                return answer(self.client.request::<Value>(call.unwrap()).await);
            }
            Write::Apply { config, force } => {
                patch.force = *force;
                (config, "application/apply-patch+yaml")
            }
            Write::Merge(body) => (body, "application/merge-patch+json"),
            Write::Json(body) => (body, "application/json-patch+json"),
            Write::Strategic(body) => (body, "application/strategic-merge-patch+json"),
        };
        // As an apply, whatever it is: only that may carry `force`.
        let empty = Patch::Apply(json!({}));
        let call = match request.subresource {
            "" => call.patch(&self.name, &patch, &empty),
            subresource => call.patch_subresource(subresource, &self.name, &patch, &empty),
        };
        let mut call = call.unwrap();
        *call.body_mut() = body.to_string().into_bytes();
        call.headers_mut().insert("content-type", content.parse().unwrap());
        answer(self.client.request::<Value>(call).await)
    }

    pub(crate) async fn delete(&self) {
        let call = Call::new(&self.path).delete(&self.name, &DeleteParams::default()).unwrap();
        self.client.request::<Value>(call).await.unwrap();
    }
}

fn answer(result: kube::Result<Value>) -> Result<Value, Refusal> {
    match result {
        Ok(object) => Ok(object),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.map(|details| details.causes).unwrap_or_default();
            let mut causes: Vec<_> = causes.into_iter().map(|cause| (cause.field, cause.message)).collect();
            causes.sort();
            Err(Refusal { code: status.code, message: status.message, causes })
        }
        Err(error) => panic!("{error}"),
    }
}
