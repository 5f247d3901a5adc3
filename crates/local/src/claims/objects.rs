//! The objects: our classes, and the volume that a claim gets.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use k8s_openapi::api::core::v1::{
    LocalVolumeSource, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectReference,
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec, VolumeNodeAffinity,
};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Amount;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use muster_quantity::Quantity;

/// The provisioner of volumes that are directories.
pub const DIRECTORY: &str = "muster.dev/directory";
/// The provisioner of volumes that are filesystems of the asked size.
pub const SIZED: &str = "muster.dev/sized";
/// Says who made a volume, and so who removes it.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
pub(super) const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
const HOSTNAME: &str = "kubernetes.io/hostname";
pub(super) const STORAGE: &str = "storage";

/// The classes that a machine on its own has: `directory`, which is the default, and `sized`. Volumes are kept until someone
/// deletes them with the claim: that is the claim owner's to say, so `Delete` like most clusters have it.
pub fn classes() -> [StorageClass; 2] {
    [("directory", DIRECTORY, true), ("sized", SIZED, false)].map(|(name, provisioner, default)| {
        StorageClass {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                annotations: default.then(|| BTreeMap::from([(IS_DEFAULT.to_owned(), "true".to_owned())])),
                ..ObjectMeta::default()
            },
            provisioner: provisioner.to_owned(),
            reclaim_policy: Some("Delete".to_owned()),
            volume_binding_mode: Some("WaitForFirstConsumer".to_owned()),
            allow_volume_expansion: Some(true),
            ..StorageClass::default()
        }
    })
}

/// Whether a class is ours.
pub(super) fn is_ours(class: &StorageClass) -> bool {
    matches!(class.provisioner.as_str(), DIRECTORY | SIZED)
}

/// Who made a volume, if it was us.
pub(super) fn provisioner_of(volume: &PersistentVolume) -> Option<&str> {
    let by = volume.annotations().get(PROVISIONED_BY).map(String::as_str);
    by.filter(|by| matches!(*by, DIRECTORY | SIZED))
}

/// The name of the volume of a claim: of this very claim, not of one that has its name later.
pub(super) fn volume_name(claim: &PersistentVolumeClaim) -> String {
    format!("pvc-{}", claim.uid().unwrap_or_default())
}

/// What a claim asks for.
pub(super) fn asked(claim: &PersistentVolumeClaim) -> Option<&Amount> {
    claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?.get(STORAGE)
}

/// An amount that can be compared.
pub(super) fn amount(amount: Option<&Amount>) -> Option<Quantity> {
    Quantity::from_str(&amount?.0).ok()
}

/// A number of bytes for a filesystem.
pub(super) fn bytes(of: &Amount) -> u64 {
    amount(Some(of)).map_or(0, |amount| u64::try_from(amount.bytes()).unwrap_or(0))
}

/// Whether a volume is this claim's.
pub(super) fn is_for(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let of = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
    of.is_some_and(|of| of.uid.is_some() && of.uid == claim.metadata.uid)
}

/// What a volume says whose it is.
pub(super) fn claim_reference(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("PersistentVolumeClaim".to_owned()),
        name: claim.metadata.name.clone(),
        namespace: claim.metadata.namespace.clone(),
        uid: claim.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

/// The volume of a claim.
pub(super) fn volume(
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    path: &Path,
    node: &str,
) -> PersistentVolume {
    let spec = claim.spec.clone().unwrap_or_default();
    let capacity = asked(claim).map(|asked| BTreeMap::from([(STORAGE.to_owned(), asked.clone())]));
    let here = NodeSelectorRequirement {
        key: HOSTNAME.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let term = NodeSelectorTerm { match_expressions: Some(vec![here]), match_fields: None };
    let annotations = BTreeMap::from([(PROVISIONED_BY.to_owned(), class.provisioner.clone())]);
    PersistentVolume {
        metadata: ObjectMeta {
            name: Some(volume_name(claim)),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        },
        spec: Some(PersistentVolumeSpec {
            access_modes: spec.access_modes,
            capacity,
            claim_ref: Some(claim_reference(claim)),
            local: Some(LocalVolumeSource { path: path.to_string_lossy().into_owned(), fs_type: None }),
            node_affinity: Some(VolumeNodeAffinity {
                required: Some(NodeSelector { node_selector_terms: vec![term] }),
            }),
            persistent_volume_reclaim_policy: class.reclaim_policy.clone(),
            storage_class_name: class.metadata.name.clone(),
            volume_mode: spec.volume_mode,
            ..PersistentVolumeSpec::default()
        }),
        status: None,
    }
}
