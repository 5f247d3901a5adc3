//! Binding: a claim and its volume each say the other's name. Only where no controller manager does it.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::ResourceExt;
use kube::api::Patch;
use serde_json::json;

use super::Keeper;
use super::objects::{claim_reference, is_for};
use crate::control::{Error, bounded, patching, reference};

const COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

impl Keeper {
    /// Binds a claim and a volume to each other, step by step; each step that is done already is left alone.
    pub(super) async fn bind(
        &self,
        claim: &PersistentVolumeClaim,
        volume: &PersistentVolume,
    ) -> Result<(), Error> {
        let of = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
        let reserved = of.is_some_and(|of| {
            of.uid.is_none() && of.name == claim.metadata.name && of.namespace == claim.metadata.namespace
        });
        if !is_for(volume, claim) {
            if of.is_some() && !reserved {
                return self.lose(claim, volume).await;
            }
            let patch = json!({
                "metadata": {"resourceVersion": volume.resource_version()},
                "spec": {"claimRef": claim_reference(claim)},
            });
            bounded(self.volumes().patch(&volume.name_any(), &patching(), &Patch::Merge(patch))).await?;
        }
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
        if phase != Some("Bound") {
            let patch = Patch::Merge(json!({"status": {"phase": "Bound"}}));
            bounded(self.volumes().patch_status(&volume.name_any(), &patching(), &patch)).await?;
        }
        self.bind_claim(claim, volume).await
    }

    async fn bind_claim(
        &self,
        claim: &PersistentVolumeClaim,
        volume: &PersistentVolume,
    ) -> Result<(), Error> {
        let api = self.claims(claim.metadata.namespace.as_deref());
        let name = claim.name_any();
        if !claim.annotations().contains_key(COMPLETED) {
            let mut annotations = json!({COMPLETED: "yes"});
            let by_name = claim.spec.as_ref().is_some_and(|spec| spec.volume_name.is_some());
            if !by_name {
                annotations[BY_CONTROLLER] = "yes".into();
            }
            let patch = json!({
                "metadata": {"resourceVersion": claim.resource_version(), "annotations": annotations},
                "spec": {"volumeName": volume.name_any()},
            });
            bounded(api.patch(&name, &patching(), &Patch::Merge(patch))).await?;
        }
        let status = claim.status.clone().unwrap_or_default();
        if status.phase.as_deref() == Some("Bound") {
            return Ok(());
        }
        let spec = volume.spec.clone().unwrap_or_default();
        let patch = Patch::Merge(json!({"status": {
            "phase": "Bound", "accessModes": spec.access_modes, "capacity": spec.capacity,
        }}));
        bounded(api.patch_status(&name, &patching(), &patch)).await.map(drop)
    }

    /// The volume that a claim names is someone else's.
    async fn lose(&self, claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> Result<(), Error> {
        let note = format!("volume {:?} already bound to a different claim.", volume.name_any());
        self.events.warn(&reference(claim), "FailedBinding", note).await;
        Ok(())
    }
}
