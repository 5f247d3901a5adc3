//! What the server does on its own, by its controllers: the same reads and writes as clients', without a request.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use super::Server;
use super::call::Call;
use super::delete::DeleteOptions;
use super::modify::Proposal;
use super::objects;
use super::options::{WriteKind, WriteOptions};
use crate::apply::track_update;
use crate::error::{ApiError, Reason};
use crate::lifecycle::Policy;
use crate::registry::Resource;
use crate::request::query::Query;
use crate::store::Key;

/// Under which name the controllers own fields.
const MANAGER: &str = "kube-controller-manager";

impl Server {
    /// The resource that is kept under this id, in the version that is stored.
    pub(crate) fn resource_by_id(&self, id: &str) -> Option<Arc<Resource>> {
        let group = id.split('/').next().unwrap_or_default();
        let all = self.registry().all();
        let mut here = all.into_iter().filter(|one| &*one.id == id && one.group == group);
        let first = here.next()?;
        let is_stored = |one: &Arc<Resource>| one.stored.as_ref().is_none_or(|stored| *stored == one.version);
        Some(if is_stored(&first) { first } else { here.find(is_stored).unwrap_or(first) })
    }

    /// The resource whose objects are of this kind.
    pub(crate) fn resource_by_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        let all = self.registry().all();
        all.into_iter().find(|one| one.kind_name == kind && one.api_version() == api_version)
    }

    /// The object under this key.
    pub(crate) fn own_get(&self, key: &Key) -> Option<Value> {
        let resource = self.resource_by_id(&key.resource)?;
        self.store().get(key).map(|stored| objects::load_stored(&resource, &stored))
    }

    /// Deletes this object and no other of its name; one that is gone is gone.
    pub(crate) async fn own_delete(&self, key: &Key, uid: &str, policy: Policy) -> Result<(), ApiError> {
        let Some(call) = self.own_call(key, None) else { return Ok(()) };
        match self.delete_object(&call, &DeleteOptions::of_one(uid, policy)).await {
            Err(error) if error.reason == Reason::NotFound => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    /// Changes an object, or one of its parts; one that is gone is gone.
    pub(crate) async fn own_change(
        &self,
        key: &Key,
        part: Option<&str>,
        change: impl Fn(&mut Value),
    ) -> Result<(), ApiError> {
        let Some(call) = self.own_call(key, part) else { return Ok(()) };
        let options = own_options(&call, WriteKind::Update)?;
        let propose = |server: &Self, old: &Value| {
            let mut object = old.clone();
            change(&mut object);
            let object = track_update(Some(old), object, &server.write(&call, &options).by(&call));
            Ok(Proposal::new(object, Vec::new()))
        };
        match self.modify(&call, &options, propose).await {
            Err(error) if error.reason == Reason::NotFound => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    /// Creates an object; one that is there stays as it is.
    pub(crate) async fn own_create(&self, key: &Key, object: &Value) -> Result<(), ApiError> {
        let Some(call) = self.own_call(key, None) else { return Ok(()) };
        let call = Call { name: None, ..call };
        let options = own_options(&call, WriteKind::Create)?;
        let owned = |server: &Self, object: Value| {
            track_update(None, object, &server.write(&call, &options).by(&call))
        };
        match self.create_object(&call, object, &options, false, owned).await {
            Err(error) if error.reason == Reason::AlreadyExists => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    fn own_call(&self, key: &Key, part: Option<&str>) -> Option<Call> {
        let resource = self.resource_by_id(&key.resource)?;
        Some(Call {
            namespace: resource.traits.namespaced.then(|| key.namespace.clone()),
            resource,
            name: Some(key.name.clone()),
            subresource: part.map(str::to_owned),
            query: Query::default(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        })
    }
}

fn own_options(call: &Call, kind: WriteKind) -> Result<WriteOptions, ApiError> {
    let options = WriteOptions::of(call, kind)?;
    Ok(WriteOptions { manager: MANAGER.to_owned(), ..options })
}
