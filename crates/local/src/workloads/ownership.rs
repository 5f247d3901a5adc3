//! Which objects are a controller's: those that say so, and those that fit and belong to nobody, which it takes.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use kube::api::{Api, ListParams, Patch};
use kube::core::{Selector, SelectorExt};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::control::{Error, bounded, patching};

/// What a controller here is made of.
pub(super) trait Kept:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync
{
}

impl<K> Kept for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + Sync
{
}

/// The owner that manages an object; there is at most one.
pub(super) fn controller_of(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    let owners = metadata.owner_references.iter().flatten();
    owners.into_iter().find(|owner| owner.controller == Some(true))
}

/// What an object that belongs to this one carries.
pub(crate) fn owner<K: Resource<DynamicType = ()>>(object: &K) -> Result<OwnerReference, Error> {
    let owner = object.controller_owner_ref(&());
    let owner = owner.ok_or_else(|| Error::Unusable("an object without a name or uid".to_owned()))?;
    Ok(OwnerReference { block_owner_deletion: Some(true), ..owner })
}

/// A selector that can be asked. An empty one selects nothing here: it would take everything.
pub(super) fn selector(of: &LabelSelector) -> Result<Selector, Error> {
    let selector = Selector::try_from(of.clone())
        .map_err(|error| Error::Unusable(format!("its selector cannot be understood: {error}")))?;
    if selector.selects_all() {
        return Err(Error::Unusable("its selector selects everything".to_owned()));
    }
    Ok(selector)
}

/// The children of a controller, read from the API server: what a cache has not seen yet must not be made twice.
///
/// An object that the selector fits, that belongs to nobody, is not ending, and is `fit`, is taken. One that belongs to us but
/// does not fit the selector any more is not counted; it keeps its owner.
pub(super) async fn children<P: Kept, C: Kept>(
    client: &Client,
    parent: &P,
    selector: &Selector,
    fit: impl Fn(&C) -> bool,
) -> Result<Vec<C>, Error> {
    let namespace = parent.namespace().unwrap_or_default();
    let api: Api<C> = Api::namespaced(client.clone(), &namespace);
    let found = bounded(api.list(&ListParams::default().labels_from(selector))).await?;
    let owner = owner(parent)?;
    let mut ours = Vec::new();
    for child in found.items {
        match controller_of(child.meta()) {
            Some(by) if by.uid == owner.uid => ours.push(child),
            Some(_) => {}
            None => {
                let lasts = child.meta().deletion_timestamp.is_none();
                if parent.meta().deletion_timestamp.is_none() && lasts && fit(&child) {
                    ours.push(adopt(&api, child, &owner).await?);
                }
            }
        }
    }
    Ok(ours)
}

/// Takes an object that belongs to nobody; refused if someone else was faster.
async fn adopt<C: Kept>(api: &Api<C>, child: C, owner: &OwnerReference) -> Result<C, Error> {
    let mut owners = child.meta().owner_references.clone().unwrap_or_default();
    owners.push(owner.clone());
    let patch = json!({"metadata": {
        "resourceVersion": child.resource_version(), "uid": child.uid(), "ownerReferences": owners,
    }});
    bounded(api.patch(&child.name_any(), &patching(), &Patch::Merge(patch))).await
}

/// Whether a selector fits an object.
pub(super) fn fits<K: Resource>(selector: &Selector, object: &K) -> bool {
    selector.matches(object.labels())
}
