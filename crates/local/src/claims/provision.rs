//! Claims: storage when it is needed, more of it when more is asked for.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, watcher};
use serde_json::json;

use super::objects::{self, SIZED, amount, asked, is_for};
use super::place::{self, Place, StorageError};
use super::{Keeper, sized};
use crate::control::{Error, bounded, drive, patching, reference, writing};

/// Set by a scheduler, when a Pod that uses the claim has been given a node.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Provides for all claims until dropped.
pub(super) async fn run(keeper: Arc<Keeper>) {
    let client = keeper.client.clone();
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<PersistentVolumeClaim>::all(client.clone()), config());
    let known = controller.store();
    let controller = controller
        .watches(Api::<Pod>::all(client.clone()), config(), |pod| used_by(&pod))
        .watches(Api::<PersistentVolume>::all(client.clone()), config(), |volume| claim_of(&volume))
        .watches(Api::<StorageClass>::all(client), config(), move |_| {
            let waiting: Vec<_> = known.state();
            waiting.into_iter().map(|claim| ObjectRef::from_obj(claim.as_ref())).collect::<Vec<_>>()
        });
    drive(controller, move |claim| {
        let keeper = keeper.clone();
        async move { Box::pin(keeper.keep_claim(&claim)).await }
    })
    .await;
}

/// The names of the claims that a Pod uses.
fn claims_of(pod: &Pod) -> impl Iterator<Item = &str> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.filter_map(|volume| Some(volume.persistent_volume_claim.as_ref()?.claim_name.as_str()))
}

fn used_by(pod: &Pod) -> Vec<ObjectRef<PersistentVolumeClaim>> {
    let namespace = pod.namespace().unwrap_or_default();
    claims_of(pod).map(|name| ObjectRef::new(name).within(&namespace)).collect()
}

fn claim_of(volume: &PersistentVolume) -> Option<ObjectRef<PersistentVolumeClaim>> {
    let of = volume.spec.as_ref()?.claim_ref.as_ref()?;
    Some(ObjectRef::new(of.name.as_deref()?).within(of.namespace.as_deref()?))
}

impl Keeper {
    pub(super) fn claims(&self, namespace: Option<&str>) -> Api<PersistentVolumeClaim> {
        Api::namespaced(self.client.clone(), namespace.unwrap_or_default())
    }

    pub(super) fn volumes(&self) -> Api<PersistentVolume> {
        Api::all(self.client.clone())
    }

    /// One pass over a claim.
    async fn keep_claim(&self, known: &PersistentVolumeClaim) -> Result<Action, Error> {
        let api = self.claims(known.metadata.namespace.as_deref());
        let done = Ok(Action::await_change());
        let Some(claim) = bounded(api.get_opt(&known.name_any())).await? else { return done };
        if claim.metadata.deletion_timestamp.is_some() {
            return done;
        }
        let spec = claim.spec.clone().unwrap_or_default();
        let named = spec.volume_name.clone().filter(|name| !name.is_empty());
        let volume = match named.clone() {
            Some(name) => bounded(self.volumes().get_opt(&name)).await?,
            None => bounded(self.volumes().get_opt(&objects::volume_name(&claim))).await?,
        };
        let volume = match (volume, named) {
            (Some(volume), _) => volume,
            // Nothing but the volume that it names would do.
            (None, Some(_)) => return done,
            (None, None) => match Box::pin(self.provide(&claim)).await? {
                Some(volume) => volume,
                None => return done,
            },
        };
        if self.options.binds {
            self.bind(&claim, &volume).await?;
        }
        if is_for(&volume, &claim) && objects::provisioner_of(&volume).is_some() {
            self.grow(&claim, &volume).await?;
        }
        done
    }

    /// Makes storage and its volume, if they are ours to make and someone needs them.
    async fn provide(&self, claim: &PersistentVolumeClaim) -> Result<Option<PersistentVolume>, Error> {
        let Some(class) = self.class_of(claim).await? else { return Ok(None) };
        if !objects::is_ours(&class) || !self.is_needed(claim, &class).await? {
            return Ok(None);
        }
        if let Some(why) = cannot(claim) {
            self.events.warn(&reference(claim), "ProvisioningFailed", why.to_owned()).await;
            return Ok(None);
        }
        let made = self.make_storage(claim, &class).await;
        let path = match made {
            Ok(path) => path,
            Err(error) => {
                let class = class.name_any();
                let note = format!("failed to provision volume with StorageClass {class:?}: {error}");
                self.events.warn(&reference(claim), "ProvisioningFailed", note).await;
                return Err(Error::Unusable(error.to_string()));
            }
        };
        let wanted = objects::volume(claim, &class, &path, &self.options.node);
        let volume = match bounded(self.volumes().create(&writing(), &wanted)).await {
            Err(error) if error.already_exists() => bounded(self.volumes().get(&wanted.name_any())).await?,
            made => made?,
        };
        let note = format!("Successfully provisioned volume {}", volume.name_any());
        self.events.say(&reference(claim), "ProvisioningSucceeded", note).await;
        Ok(Some(volume))
    }

    async fn make_storage(
        &self,
        claim: &PersistentVolumeClaim,
        class: &StorageClass,
    ) -> Result<std::path::PathBuf, StorageError> {
        let place = Place(&self.options.directory);
        place.make_ready()?;
        let name = objects::volume_name(claim);
        if class.provisioner == SIZED {
            return sized::make(place, &name, asked(claim).map_or(0, objects::bytes)).await;
        }
        let path = place.volume(&name)?;
        place::make_volume(&path)?;
        Ok(path)
    }

    /// The class of a claim; one that names none gets the default class, when there is one.
    async fn class_of(&self, claim: &PersistentVolumeClaim) -> Result<Option<StorageClass>, Error> {
        let classes: Api<StorageClass> = Api::all(self.client.clone());
        let named = claim.spec.as_ref().and_then(|spec| spec.storage_class_name.clone());
        if let Some(name) = named {
            // "" asks for a volume that someone makes by hand.
            return if name.is_empty() { Ok(None) } else { bounded(classes.get_opt(&name)).await };
        }
        if !self.options.binds {
            return Ok(None);
        }
        let all = bounded(classes.list(&ListParams::default())).await?;
        let mut defaults = all.items;
        defaults.retain(|class| class.annotations().get(objects::IS_DEFAULT).is_some_and(|is| is == "true"));
        defaults.sort_by_key(|class| class.metadata.creation_timestamp.as_ref().map(|time| time.0));
        let Some(class) = defaults.pop() else { return Ok(None) };
        let patch = json!({
            "metadata": {"resourceVersion": claim.resource_version()},
            "spec": {"storageClassName": class.name_any()},
        });
        let api = self.claims(claim.metadata.namespace.as_deref());
        bounded(api.patch(&claim.name_any(), &patching(), &Patch::Merge(patch))).await?;
        // Seen again with its class.
        Ok(None)
    }

    /// Whether the claim is to have its volume now: at once, or when a Pod uses it here.
    async fn is_needed(&self, claim: &PersistentVolumeClaim, class: &StorageClass) -> Result<bool, Error> {
        if class.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer") {
            return Ok(true);
        }
        if let Some(node) = claim.annotations().get(SELECTED_NODE) {
            return Ok(*node == self.options.node);
        }
        self.is_used(claim).await
    }

    /// Whether a Pod uses a claim here, or will.
    async fn is_used(&self, claim: &PersistentVolumeClaim) -> Result<bool, Error> {
        let namespace = claim.namespace().unwrap_or_default();
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        let pods = bounded(pods.list(&ListParams::default())).await?;
        let name = claim.name_any();
        Ok(pods.items.iter().any(|pod| {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
            node.is_none_or(|node| node == self.options.node) && claims_of(pod).any(|used| used == name)
        }))
    }

    /// Gives a claim the space that it asks for by now.
    async fn grow(&self, claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> Result<(), Error> {
        let Some(wanted) = asked(claim) else { return Ok(()) };
        let given = claim.status.as_ref().and_then(|status| status.capacity.as_ref()?.get(objects::STORAGE));
        let given = amount(given);
        if given.is_none() || amount(Some(wanted)) <= given {
            return Ok(());
        }
        let place = Place(&self.options.directory);
        if objects::provisioner_of(volume) == Some(SIZED) {
            let is_idle = !self.is_used(claim).await?;
            let grown = sized::grow(place, &volume.name_any(), objects::bytes(wanted), is_idle).await;
            if let Err(error) = grown {
                let then = if is_idle { "" } else { "; it is tried again when no Pod uses it" };
                let note = format!("the volume could not grow to {}: {error}{then}", wanted.0);
                self.events.warn(&reference(claim), "VolumeResizeFailed", note).await;
                return Err(Error::Unusable(error.to_string()));
            }
        }
        let capacity = json!({"capacity": {objects::STORAGE: wanted.0}});
        let patch = Patch::Merge(json!({"spec": capacity}));
        bounded(self.volumes().patch(&volume.name_any(), &patching(), &patch)).await?;
        let patch = Patch::Merge(json!({"status": capacity}));
        let api = self.claims(claim.metadata.namespace.as_deref());
        bounded(api.patch_status(&claim.name_any(), &patching(), &patch)).await?;
        let note = format!("the volume has now {}", wanted.0);
        self.events.say(&reference(claim), "VolumeResizeSuccessful", note).await;
        Ok(())
    }
}

/// What a claim asks for that a directory of this machine cannot be.
fn cannot(claim: &PersistentVolumeClaim) -> Option<&'static str> {
    let spec = claim.spec.as_ref()?;
    if spec.volume_mode.as_deref() == Some("Block") {
        return Some("volumes of this class are directories, not block devices");
    }
    if spec.selector.is_some() {
        return Some("volumes of this class are made for their claim: a selector cannot be met");
    }
    let source = spec.data_source.is_some() || spec.data_source_ref.is_some();
    source.then_some("volumes of this class begin empty: a source cannot be copied")
}
