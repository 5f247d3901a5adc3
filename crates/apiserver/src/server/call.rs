//! What a request asks for: a resource, an object of it, and how.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use crate::error::{ApiError, Reason, Subject};
use crate::lifecycle::Part;
use crate::registry::Resource;
use crate::request::query::Query;
use crate::store::{Key, Scope};

/// A request for a resource.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) resource: Arc<Resource>,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    /// The namespace in keys.
    pub(super) fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// The name in the path; "" for a collection.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Under which the object is kept.
    pub(super) fn key(&self) -> Key {
        Key::new(&self.resource.id, self.namespace(), self.name())
    }

    /// Which objects the collection holds.
    pub(super) fn scope(&self) -> Scope {
        Scope { resource: self.resource.id.clone(), namespace: self.namespace.clone() }
    }

    /// Whether it is about the objects in all namespaces.
    pub(super) fn is_of_all_namespaces(&self) -> bool {
        self.resource.traits.namespaced && self.namespace.is_none()
    }

    /// Which part of the object is written.
    pub(super) fn part(&self) -> Part {
        match self.subresource.as_deref() {
            Some("status") => Part::Status,
            Some("finalize") => Part::Finalize,
            _ => Part::Whole,
        }
    }

    /// The object as errors name it.
    pub(super) fn subject(&self) -> Subject {
        self.subject_named(self.name())
    }

    /// The same, of an object whose name is not in the path.
    pub(super) fn subject_named(&self, name: &str) -> Subject {
        let (group, kind) = (self.resource.group.clone(), self.resource.plural.clone());
        Subject { name: name.to_owned(), group, kind, uid: String::new() }
    }

    /// The object as errors about its content name it: by its kind, in the group in which it is kept.
    pub(super) fn subject_by_kind(&self, name: &str) -> Subject {
        let (group, _) = self.resource.id.split_once('/').unwrap_or_default();
        let kind = self.resource.kind_name.clone();
        Subject { name: name.to_owned(), group: group.to_owned(), kind, uid: String::new() }
    }

    /// The same, of an object that may say it is of another kind.
    pub(super) fn subject_of(&self, object: &Value, name: &str) -> Subject {
        let subject = self.subject_by_kind(name);
        match object.get("kind").and_then(Value::as_str) {
            Some(kind) if self.resource.kind.is_custom() => Subject { kind: kind.to_owned(), ..subject },
            _ => subject,
        }
    }

    /// A header as text; "" when it is not there.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The media type of the body, without its parameters.
    pub(super) fn content_type(&self) -> &str {
        self.header("content-type").split(';').next().unwrap_or_default().trim()
    }
}

/// The error for what a resource does not do.
pub(super) fn not_allowed() -> ApiError {
    let message = "the server does not allow this method on the requested resource";
    let subject = Some(Box::default());
    ApiError { subject, ..ApiError::new(Reason::MethodNotAllowed, message) }
}
