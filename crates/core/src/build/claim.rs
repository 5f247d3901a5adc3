//! The claim of a pool's Member, `data-<member>`. It belongs to the data, so it has no owner: garbage collection would
//! delete it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as KubeQuantity;
use muster_api::{Member, Quantity};

use super::names;

/// One member writes a volume at a time; that it is one Pod is what the agent's lock on the volume is for.
const ACCESS_MODE: &str = "ReadWriteOnce";
/// The resource that a claim asks for.
const STORAGE: &str = "storage";

/// The claim that Muster makes for a Member; `None` where it makes none. With the claim that is there, if there is one, it
/// asks for no less than that: a volume that was kept from before does not shrink.
pub fn of_member(member: &Member, live: Option<&PersistentVolumeClaim>) -> Option<PersistentVolumeClaim> {
    let (name, claim) = member
        .spec
        .storage
        .iter()
        .find_map(|storage| Some((storage.pvc_name.as_ref()?, storage.claim.as_ref()?)))?;
    let before = live.and_then(requested).filter(|before| *before > claim.capacity);
    let capacity = before.as_ref().unwrap_or(&claim.capacity);
    let requests = BTreeMap::from([(STORAGE.to_owned(), KubeQuantity(capacity.to_string()))]);
    let labels = names::member_labels(member);
    Some(PersistentVolumeClaim {
        metadata: names::metadata(name.clone(), member.metadata.namespace.as_ref(), labels),
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: Some(vec![ACCESS_MODE.to_owned()]),
            storage_class_name: claim.storage_class_name.clone(),
            resources: Some(VolumeResourceRequirements { requests: Some(requests), limits: None }),
            ..PersistentVolumeClaimSpec::default()
        }),
        status: None,
    })
}

/// How much a claim asks for.
pub fn requested(claim: &PersistentVolumeClaim) -> Option<Quantity> {
    claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?.get(STORAGE)?.0.parse().ok()
}
