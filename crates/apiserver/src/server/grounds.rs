//! What a new object rests on: its namespace and its definition. They are looked at first, and have to be the same when it
//! is stored; otherwise one that ends at that moment would leave it behind.

use std::sync::Arc;

use super::call::Call;
use super::route::not_served;
use super::{Server, definitions, namespaces};
use crate::error::{ApiError, Cause, Reason, Subject};
use crate::lifecycle::metadata;
use crate::store::{Key, Need};

impl Server {
    /// What a new object of this name rests on. `anew`: what the call knows of its definition may be old.
    pub(super) fn grounds(&self, call: &Call, name: &str, anew: bool) -> Result<Vec<Need>, ApiError> {
        let namespace = self.namespace_takes(call, name)?;
        let definition = self.definition_takes(call, name, anew)?;
        Ok(namespace.into_iter().chain(definition).collect())
    }

    /// The namespace, where there is one: it has to be there, and to stay.
    fn namespace_takes(&self, call: &Call, name: &str) -> Result<Option<Need>, ApiError> {
        let Some(namespace) = call.namespace.as_deref().filter(|_| call.resource.traits.namespaced) else {
            return Ok(None);
        };
        let key = Key::new(&Arc::from(namespaces::RESOURCE), "", namespace);
        let Some(found) = self.store().get(&key) else {
            let kind = "namespaces".to_owned();
            let subject = Subject { name: namespace.to_owned(), kind, ..Subject::default() };
            return Err(ApiError::not_found(subject));
        };
        // Most need not be read to know that they stay.
        if found.object.mentions("deletionTimestamp") && metadata::is_ending(&found.object.value()) {
            return Err(terminating(call.subject_named(name), namespace));
        }
        Ok(Some(Need { key, at: found.revision }))
    }

    /// The definition of a custom resource: it has to be there, and to stay. It is large, and read only if the call may not
    /// know its last state.
    fn definition_takes(&self, call: &Call, new: &str, anew: bool) -> Result<Option<Need>, ApiError> {
        let resource = &call.resource;
        if !resource.kind.is_custom() {
            return Ok(None);
        }
        let name = format!("{}.{}", resource.plural, resource.group);
        let key = Key::new(&Arc::from(definitions::RESOURCE), "", &name);
        let (at, ends) = if anew {
            let found = self.store().get(&key).ok_or_else(not_served)?;
            (found.revision, metadata::is_ending(&found.object.value()))
        } else {
            (resource.since, resource.ending)
        };
        if ends { Err(ending(call, new)) } else { Ok(Some(Need { key, at })) }
    }
}

/// Nothing new comes of a definition that goes: its end would never come.
fn ending(call: &Call, name: &str) -> ApiError {
    let why = "create not allowed while custom resource definition is terminating";
    ApiError::forbidden(call.subject_named(name), why)
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
