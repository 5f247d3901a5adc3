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
/// Ours carries the same labels of Muster, and is controlled by the owner that we would give it; then labels that were taken
/// away are put back. One without a controller is ours if its labels are: claims and account Secrets have none, and a reference that was taken away is
/// put back.
pub fn taken(wanted: &ObjectMeta, found: &ObjectMeta) -> Option<String> {
    let controller = |of: &ObjectMeta| {
        of.owner_references.iter().flatten().find(|owner| owner.controller == Some(true)).cloned()
    };
    let (ours, theirs) = (controller(wanted), controller(found));
    let ours_by_owner = ours.is_some_and(|ours| theirs.as_ref().is_some_and(|theirs| theirs.uid == ours.uid));
    let label = |of: &ObjectMeta, key: &str| of.labels.as_ref().and_then(|labels| labels.get(key).cloned());
    for key in IDENTITY {
        let (ours, theirs) = (label(wanted, key), label(found, key));
        // A label that was taken away is put back; another one says that it is of something else.
        let put_back = ours_by_owner && theirs.is_none();
        if ours != theirs && !put_back {
            let said = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            return Some(format!("its label {key} is {}, not {}", said(theirs), said(ours)));
        }
    }
    if ours_by_owner {
        return None;
    }
    theirs.map(|owner| format!("it is controlled by {} {}", owner.kind, owner.name))
}
