//! The Member of a pool, and what of an existing Member is ours to change.
//!
//! Server-side apply takes away what an apply leaves out, so each apply carries all that is ours: what is not to move yet
//! is repeated as it stands.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::ReplicatedCluster;
use muster_api::cluster::Pool;
use muster_api::member::{Claim, Member, MemberSpec, MemberStorage, Workload};
use muster_api::names::{FINALIZER_MEMBER, LABEL_POOL};

use super::{names, owners};

/// What every Member of a cluster is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The version of the software.
    pub version: String,
    /// The name of the ConfigMap.
    pub config: String,
    /// What stands for the contents of the Secrets; none where no Secret is used.
    pub secrets_hash: Option<String>,
}

/// The Member of a pool, as it is when it is new.
pub fn of_pool(cluster: &ReplicatedCluster, pool: &Pool, ordinal: u32, target: &Target) -> Member {
    let of = names::of_cluster(cluster);
    let name = names::member(of, &pool.name, ordinal);
    let mut member = Member::new(
        &name,
        MemberSpec {
            cluster_name: of.to_owned(),
            pool: pool.name.clone(),
            zone: pool.zone.clone(),
            storage: vec![MemberStorage {
                pvc_name: Some(names::claim(&name)),
                claim: Some(claim(pool)),
                ..MemberStorage::default()
            }],
            node_affinity: pool.node_affinity.clone(),
            workload: Some(Workload {
                version: target.version.clone(),
                resources: pool.resources.clone(),
                tolerations: pool.tolerations.clone(),
                config: target.config.clone(),
                secrets_hash: target.secrets_hash.clone(),
            }),
            ..MemberSpec::default()
        },
    );
    let labels = names::member_labels(&member);
    let metadata = names::metadata(name, cluster.metadata.namespace.as_ref(), labels);
    member.metadata = ObjectMeta {
        finalizers: Some(vec![FINALIZER_MEMBER.to_owned()]),
        ..owners::owned(metadata, owners::by_cluster(cluster))
    };
    member
}

fn claim(pool: &Pool) -> Claim {
    Claim {
        storage_class_name: pool.storage.storage_class_name.clone(),
        capacity: pool.storage.capacity.clone(),
        retention: pool.storage.retention,
    }
}

/// What `zone`, `nodeAffinity` and `workload` of an existing Member are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rolled {
    /// As they stand: it is not this Member's turn.
    Kept,
    /// As the pool has them.
    Moved,
    /// As they stand, and its storage too: the Member is disabled.
    Fixed,
}

/// What to apply to a Member of a pool that exists: `wanted` ([`of_pool`]) with `zone`, `nodeAffinity` and `workload` as
/// `rolled` says. `claim` follows at once, except where the Member is disabled; `desiredState` is never ours.
pub fn following(wanted: &Member, live: &Member, rolled: Rolled) -> Member {
    let mut member = wanted.clone();
    if rolled == Rolled::Fixed {
        member.spec.storage.clone_from(&live.spec.storage);
    }
    if rolled != Rolled::Moved {
        member.spec.zone.clone_from(&live.spec.zone);
        member.spec.node_affinity.clone_from(&live.spec.node_affinity);
        member.spec.workload.clone_from(&live.spec.workload);
    }
    if live.metadata.deletion_timestamp.is_some() {
        // Whoever carries out the deletion decides about the finalizer; the API server refuses to have one added now.
        member.metadata.finalizers.clone_from(&live.metadata.finalizers);
    }
    member
}

/// Whether `zone`, `nodeAffinity` or `workload` are yet to follow.
pub fn to_roll(wanted: &Member, live: &Member) -> bool {
    wanted.spec.zone != live.spec.zone
        || wanted.spec.node_affinity != live.spec.node_affinity
        || wanted.spec.workload != live.spec.workload
}

/// The workload of a Member made by hand: the version and configuration of its cluster, and the resources and tolerations of
/// the pool it names, if there is such a pool.
pub fn workload_by_hand(pool: Option<&Pool>, target: &Target) -> Workload {
    Workload {
        version: target.version.clone(),
        resources: pool.and_then(|pool| pool.resources.clone()),
        tolerations: pool.map(|pool| pool.tolerations.clone()).unwrap_or_default(),
        config: target.config.clone(),
        secrets_hash: target.secrets_hash.clone(),
    }
}

/// What to apply to a Member made by hand: our labels, the finalizer, and `spec.workload`. Nothing else of it is ours, so
/// this is not a whole Member; and it is not owned by its cluster, because nobody but a person deletes what a person made.
pub fn by_hand(live: &Member, workload: &Workload) -> serde_json::Value {
    let mut labels = names::member_labels(live);
    labels.remove(LABEL_POOL); // it says that a Member was made from a pool
    let mut finalizers = Some(vec![FINALIZER_MEMBER.to_owned()]);
    if live.metadata.deletion_timestamp.is_some() {
        finalizers.clone_from(&live.metadata.finalizers);
    }
    serde_json::json!({
        "apiVersion": muster_api::names::API_VERSION,
        "kind": "Member",
        "metadata": {
            "name": live.metadata.name,
            "namespace": live.metadata.namespace,
            "labels": labels,
            "finalizers": finalizers.unwrap_or_default(),
        },
        "spec": {"workload": workload},
    })
}
