//! The `PodDisruptionBudget`: a drain takes one member at a time.
//!
//! A member that came back from a drain is ready only when it serves, and without an operator nobody starts it; so with one
//! away the next eviction is refused, and a drain halts instead of taking the cluster apart. At most one away, and not at
//! least so many there, because a cluster of one member must not block a drain for good.

use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use muster_api::ReplicatedCluster;

use super::{names, owners};

/// How many members may be away at once.
const AWAY: i32 = 1;

/// The budget of a cluster.
pub fn budget(cluster: &ReplicatedCluster) -> PodDisruptionBudget {
    let of = names::of_cluster(cluster);
    let metadata = names::metadata(
        names::client_service(of),
        cluster.metadata.namespace.as_ref(),
        names::cluster_labels(of),
    );
    PodDisruptionBudget {
        metadata: owners::owned(metadata, owners::by_cluster(cluster)),
        spec: Some(PodDisruptionBudgetSpec {
            max_unavailable: Some(IntOrString::Int(AWAY)),
            selector: Some(LabelSelector {
                match_labels: Some(names::members_selector(of)),
                match_expressions: None,
            }),
            ..PodDisruptionBudgetSpec::default()
        }),
        status: None,
    }
}
