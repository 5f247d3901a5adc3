//! The namespaces that objects live in.

use http::HeaderMap;
use serde_json::json;

use super::Server;
use super::call::Call;
use super::options::{WriteKind, WriteOptions};
use crate::apply::track_update;
use crate::error::{ApiError, Cause, Reason, Subject};
use crate::kind::Around;
use crate::lifecycle::metadata;
use crate::request::query::Query;

/// Under which namespaces are kept.
pub(super) const RESOURCE: &str = "/namespaces";
/// The namespaces that are always there.
const FIRST: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

impl Server {
    /// Whether the namespace of a new object, which has this name, is there and stays.
    pub(super) fn namespace_takes(&self, call: &Call, name: &str) -> Result<(), ApiError> {
        let Some(namespace) = call.namespace.as_deref().filter(|_| call.resource.traits.namespaced) else {
            return Ok(());
        };
        let subject =
            Subject { name: namespace.to_owned(), kind: "namespaces".to_owned(), ..Subject::default() };
        let Some(found) = Around::get(self, RESOURCE, "", namespace) else {
            return Err(ApiError::not_found(subject));
        };
        if metadata::is_ending(&found) {
            return Err(terminating(call.subject_named(name), namespace));
        }
        Ok(())
    }

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
            let owned = |server: &Self, object: &serde_json::Value| {
                track_update(None, object, &server.write(&call, &options).by(&call))
            };
            // One that is there from an earlier run stays as it is.
            let _ = self.create_object(&call, &object, &options, owned).await;
        }
    }
}

fn terminating(subject: Subject, namespace: &str) -> ApiError {
    let group = if subject.group.is_empty() { String::new() } else { format!(".{}", subject.group) };
    let message = format!(
        "{}{group} {:?} is forbidden: unable to create new content in namespace {namespace} because it is being terminated",
        subject.kind, subject.name
    );
    let cause = Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    let error = ApiError::new(Reason::Forbidden, message);
    ApiError { subject: Some(Box::new(subject)), causes: vec![cause], ..error }
}
