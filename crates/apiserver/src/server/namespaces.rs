//! The namespaces that are always there.

use http::HeaderMap;
use serde_json::json;

use super::Server;
use super::call::Call;
use super::options::{WriteKind, WriteOptions};
use crate::apply::track_update;
use crate::request::query::Query;

/// Under which namespaces are kept.
pub(super) const RESOURCE: &str = "/namespaces";
/// The namespaces that are always there.
const FIRST: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

impl Server {
    /// Makes the namespaces that are always there.
    pub(super) async fn create_first_namespaces(&self) {
        let Some(resource) = self.registry().find("", "v1", "namespaces") else { return };
        for name in FIRST {
            let call = Call {
                resource: resource.clone(),
                namespace: None,
                name: None,
                subresource: None,
                query: Query::default(),
                headers: HeaderMap::new(),
                body: bytes::Bytes::new(),
            };
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            let Ok(options) = WriteOptions::of(&call, WriteKind::Create) else { return };
            let options = WriteOptions { manager: "muster".to_owned(), ..options };
            let owned = |server: &Self, object: serde_json::Value| {
                track_update(None, object, &server.write(&call, &options).by(&call))
            };
            // One that is there from an earlier run stays as it is.
            let _ = self.create_object(&call, &object, &options, false, owned).await;
        }
    }
}
