//! Volumes whose claims are gone: kept, or removed with all that is in them, as each says.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, watcher};
use serde_json::json;

use super::objects::{self, SIZED};
use super::place::{self, Place, StorageError};
use super::{Keeper, sized};
use crate::control::{Error, bounded, drive, patching, reference};

/// Keeps all volumes until dropped.
pub(super) async fn run(keeper: Arc<Keeper>) {
    let client = keeper.client.clone();
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<PersistentVolume>::all(client.clone()), config()).watches(
        Api::<PersistentVolumeClaim>::all(client),
        config(),
        |claim| {
            let named = claim.spec.as_ref().and_then(|spec| spec.volume_name.clone());
            let both = [named.filter(|name| !name.is_empty()), Some(objects::volume_name(&claim))];
            both.into_iter().flatten().map(|name| ObjectRef::new(&name)).collect::<Vec<_>>()
        },
    );
    drive(controller, move |volume| {
        let keeper = keeper.clone();
        async move { keeper.keep_volume(&volume).await }
    })
    .await;
}

fn phase(volume: &PersistentVolume) -> &str {
    volume.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

impl Keeper {
    /// One pass over a volume.
    async fn keep_volume(&self, known: &PersistentVolume) -> Result<Action, Error> {
        let done = Ok(Action::await_change());
        let Some(volume) = bounded(self.volumes().get_opt(&known.name_any())).await? else { return done };
        let mut released = phase(&volume) == "Released";
        if self.options.binds {
            let free = volume.spec.as_ref().is_some_and(|spec| spec.claim_ref.is_none());
            if free && phase(&volume) != "Available" {
                self.set_phase(&volume, "Available").await?;
            }
            if !released && self.is_left(&volume).await? {
                self.set_phase(&volume, "Released").await?;
                released = true;
            }
        }
        let deletes = volume.spec.as_ref().and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref());
        if released && deletes == Some("Delete") && objects::provisioner_of(&volume).is_some() {
            self.remove(&volume).await?;
        } else if objects::provisioner_of(&volume) == Some(SIZED) && self.is_here(&volume) {
            // After the machine was restarted, whoever waits for it waits for us.
            if let Err(error) = sized::prepare(&self.options.directory, &volume).await {
                self.events.warn(&reference(&volume), "FailedMount", error.to_string()).await;
                return Err(Error::Unusable(error.to_string()));
            }
        }
        done
    }

    /// Whether it is on this node, and among our volumes.
    fn is_here(&self, volume: &PersistentVolume) -> bool {
        Place(&self.options.directory).of(volume).is_ok()
    }

    async fn set_phase(&self, volume: &PersistentVolume, phase: &str) -> Result<(), Error> {
        let patch = Patch::Merge(json!({"status": {"phase": phase}}));
        bounded(self.volumes().patch_status(&volume.name_any(), &patching(), &patch)).await.map(drop)
    }

    /// Whether the claim that it was bound to is gone, or another one has its name.
    async fn is_left(&self, volume: &PersistentVolume) -> Result<bool, Error> {
        let Some(of) = volume.spec.as_ref().and_then(|spec| spec.claim_ref.clone()) else { return Ok(false) };
        // One that is only reserved waits for its claim.
        let Some(uid) = of.uid else { return Ok(false) };
        let api = self.claims(of.namespace.as_deref());
        let claim = bounded(api.get_opt(of.name.as_deref().unwrap_or_default())).await?;
        Ok(claim.is_none_or(|claim| claim.metadata.uid.as_ref() != Some(&uid)))
    }

    /// Removes what is on the disk, then the volume.
    async fn remove(&self, volume: &PersistentVolume) -> Result<(), Error> {
        if let Err(error) = self.remove_storage(volume).await {
            self.events.warn(&reference(volume), "VolumeFailedDelete", error.to_string()).await;
            return Err(Error::Unusable(error.to_string()));
        }
        if volume.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        match bounded(self.volumes().delete(&volume.name_any(), &DeleteParams::default())).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    async fn remove_storage(&self, volume: &PersistentVolume) -> Result<(), StorageError> {
        let place = Place(&self.options.directory);
        let path = place.of(volume)?;
        if objects::provisioner_of(volume) == Some(SIZED) {
            return sized::remove(place, &volume.name_any()).await;
        }
        let removed = tokio::task::spawn_blocking(move || place::remove_volume(&path)).await;
        removed.unwrap_or_else(|error| Err(StorageError::Io(place.volumes(), std::io::Error::other(error))))
    }
}
