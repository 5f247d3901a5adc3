//! Whose an object is: the references that we write, and whether an object found under a wanted name is ours.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use muster_api::names::{API_VERSION, LABEL_CLUSTER, LABEL_DRIVER, LABEL_MEMBER, LABEL_POOL};
use muster_api::{Member, ReplicatedCluster};

/// The labels by which an object says what it is of. The role of a Pod is not among them: it changes.
const IDENTITY: [&str; 4] = [LABEL_CLUSTER, LABEL_POOL, LABEL_MEMBER, LABEL_DRIVER];

/// A reference to the owner that controls an object; none as long as the owner is not stored and so has no uid.
///
/// `blockOwnerDeletion` is left out: to set it takes the right to change the owner's finalizers where the API server is
/// strict, and our own finalizers say the order in which things go.
fn controller(kind: &str, owner: &ObjectMeta) -> Option<OwnerReference> {
    Some(OwnerReference {
        api_version: API_VERSION.to_owned(),
        kind: kind.to_owned(),
        name: owner.name.clone()?,
        uid: owner.uid.clone()?,
        controller: Some(true),
        block_owner_deletion: None,
    })
}

/// Owned by the cluster.
pub fn by_cluster(cluster: &ReplicatedCluster) -> Option<OwnerReference> {
    controller("ReplicatedCluster", &cluster.metadata)
}

/// Owned by the Member.
pub fn by_member(member: &Member) -> Option<OwnerReference> {
    controller("Member", &member.metadata)
}

/// The same metadata with this owner.
pub(super) fn owned(metadata: ObjectMeta, owner: Option<OwnerReference>) -> ObjectMeta {
    ObjectMeta { owner_references: owner.map(|owner| vec![owner]), ..metadata }
}

/// Why an object that was found under a wanted name is not ours, in words for `NameTaken`; `None` if it is.
///
/// Ours carries the same labels of Muster, and is controlled by the owner that we would give it. One without a
/// controller is ours if its labels are: claims and account Secrets have none, and a reference that was taken away is
/// put back.
pub fn taken(wanted: &ObjectMeta, found: &ObjectMeta) -> Option<String> {
    let label = |of: &ObjectMeta, key: &str| of.labels.as_ref().and_then(|labels| labels.get(key).cloned());
    for key in IDENTITY {
        let (ours, theirs) = (label(wanted, key), label(found, key));
        if ours != theirs {
            let said = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            return Some(format!("its label {key} is {}, not {}", said(theirs), said(ours)));
        }
    }
    let controller = |of: &ObjectMeta| {
        of.owner_references.iter().flatten().find(|owner| owner.controller == Some(true)).cloned()
    };
    let theirs = controller(found)?;
    match controller(wanted) {
        Some(ours) if ours.uid == theirs.uid => None,
        _ => Some(format!("it is controlled by {} {}", theirs.kind, theirs.name)),
    }
}
