//! Objects on their way between the store and a request. What is stored has neither `apiVersion` nor `kind`: a resource
//! knows them, and they differ with the version that is asked for.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value};
use tokio::sync::MutexGuard;

use super::Server;
use crate::lifecycle::metadata;
use crate::registry::Resource;
use crate::store::{Document, Draft, Expect, Key, Need, Revision, Stored, WriteError};

impl Server {
    /// Keeps others from preparing objects of a resource that gives out what no two may have, until it is dropped.
    pub(super) async fn alone(&self, resource: &Resource) -> Option<MutexGuard<'_, ()>> {
        if resource.kind.allocates() { Some(self.0.allocating.lock().await) } else { None }
    }

    /// Stores an object of this resource, and gives it back at its new version.
    pub(super) async fn put(
        &self,
        resource: &Resource,
        key: Key,
        object: Value,
        expect: Expect,
    ) -> Result<Value, WriteError> {
        let object = converted(resource, object);
        let stored = self.put_draft(key, draft(resource, &object), expect, Vec::new()).await?;
        Ok(at(object, stored.revision))
    }

    /// Stores a draft of this resource if everything that it needs is as it was; gives back its text.
    pub(super) async fn put_with(
        &self,
        resource: &Resource,
        key: Key,
        draft: Draft,
        expect: Expect,
        needs: Vec<Need>,
    ) -> Result<Bytes, WriteError> {
        let stored = self.put_draft(key, draft, expect, needs).await?;
        Ok(text(resource, &stored.object, stored.revision, true))
    }

    async fn put_draft(
        &self,
        key: Key,
        draft: Draft,
        expect: Expect,
        needs: Vec<Need>,
    ) -> Result<Stored, WriteError> {
        let definition = (*key.resource == *super::definitions::RESOURCE).then(|| key.name.clone());
        let stored = self.store().put_with(key, draft, expect, needs).await?;
        if let Some(name) = definition {
            Box::pin(self.settle_definition(&name)).await;
        }
        Ok(stored)
    }

    /// Removes an object of this resource; its last state is given back.
    pub(super) async fn remove(
        &self,
        resource: &Resource,
        key: &Key,
        last: Value,
        revision: Revision,
    ) -> Result<Value, WriteError> {
        let stored = self.store().remove_with(key, draft(resource, &last), revision).await?;
        if resource.kind.is_custom() {
            self.after_removal(resource).await;
        }
        Ok(at(last, stored.revision))
    }
}

/// An object as it is when it has been stored and is read again: a version may say less than the one that is stored.
pub(super) fn converted(resource: &Resource, mut object: Value) -> Value {
    if resource.kind.is_converted() && resource.kind.is_custom() {
        resource.kind.to_stored(&mut object);
        resource.kind.revive(&mut object, false);
    }
    object
}

/// What is not stored.
const TYPE: [&str; 2] = ["apiVersion", "kind"];

/// An object of this resource as it is stored.
pub(super) fn draft(resource: &Resource, object: &Value) -> Draft {
    if !resource.kind.is_converted() {
        return Draft::without(object, &TYPE);
    }
    let mut converted = object.clone();
    resource.kind.to_stored(&mut converted);
    Draft::without(&converted, &TYPE)
}

/// An object that was made from what a client sent, as it is stored.
pub(super) fn next_draft(resource: &Resource, object: Value) -> Draft {
    draft(resource, &converted(resource, object))
}

/// The fields of the metadata that an apply can leave with nothing in them.
const LEFT_EMPTY: [&str; 5] = ["labels", "annotations", "finalizers", "ownerReferences", "generateName"];

/// The fields of the metadata that an apply leaves with nothing in them. kube-apiserver stores them with a custom resource and shows
/// them to nobody. An apply that does so is a write, and so is the next one after it, which stores the object without them, even if
/// nothing changes.
pub(super) fn left_empty(resource: &Resource, applied: &Value) -> Map<String, Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let names = LEFT_EMPTY.iter().filter(|_| resource.kind.is_custom());
    let fields = names.filter_map(|name| Some(((*name).to_owned(), metadata::field(applied, name)?.clone())));
    fields.filter(|(_, value)| is_empty(value)).collect()
}

/// Whether the object that was read from here would be stored in another way than it is, because of [`left_empty`], or
/// because it was stored under another definition or in another version. Then a write is one even if it changes nothing.
pub(super) fn is_stored_otherwise(resource: &Resource, stored: &Stored, read: &Value) -> bool {
    let may_differ = stored.revision <= resource.since || resource.kind.is_converted();
    let differs = || !draft(resource, read).is(stored);
    resource.kind.is_custom() && (stored.object.is_written_anew() || may_differ && differs())
}

fn at(mut object: Value, revision: Revision) -> Value {
    metadata::set(&mut object, "resourceVersion", Some(revision.to_string().into()));
    object
}

/// A stored object as it is in this version of its resource.
pub(super) fn load(resource: &Resource, object: &Document, revision: Revision) -> Value {
    let mut object = object.value();
    resource.kind.revive(&mut object, revision <= resource.since);
    set_type(resource, &mut object);
    object
}

/// Lets an object say what it is.
pub(super) fn set_type(resource: &Resource, object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), resource.api_version().into());
        fields.insert("kind".to_owned(), resource.kind_name.clone().into());
    }
}

/// The same as [`load`] for what is stored.
pub(super) fn load_stored(resource: &Resource, stored: &Stored) -> Value {
    load(resource, &stored.object, stored.revision)
}

/// The JSON text of a stored object, with or without `apiVersion` and `kind`; as it is stored, wherever that will do.
pub(super) fn text(resource: &Resource, object: &Document, revision: Revision, typed: bool) -> Bytes {
    let as_it_is = revision > resource.since && !resource.kind.is_converted();
    let bare = if as_it_is {
        object.text().clone()
    } else {
        let mut revived = object.value();
        resource.kind.revive(&mut revived, revision <= resource.since);
        Bytes::from(revived.to_string())
    };
    if typed { with_type(resource, &bare) } else { bare }
}

fn with_type(resource: &Resource, bare: &Bytes) -> Bytes {
    let head = format!(r#"{{"apiVersion":"{}","kind":"{}""#, resource.api_version(), resource.kind_name);
    let mut text = BytesMut::with_capacity(head.len() + bare.len());
    text.put_slice(head.as_bytes());
    if bare.len() > 2 {
        text.put_u8(b',');
    }
    text.put_slice(&bare[1.min(bare.len())..]);
    text.freeze()
}
