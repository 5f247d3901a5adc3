//! What is particular to the kinds that are served equal in every field to kube-apiserver: what clients leave open, what
//! the server adds, what it refuses, and in which words.
//!
//! Both sides are compared in `tests/real_objects`; what differs is listed in `tests/real_conformance/README.md`.

mod addresses;
mod crd;
mod data;
mod disruption_budget;
mod docker_config;
mod endpoint_slice;
mod endpoints;
mod event;
pub(crate) mod fields;
pub(crate) mod names;
mod namespace;
mod rbac;
mod small;
mod storage_class;

pub use crd::{cleaned, deleting, established, is_established, marked};
pub use namespace::{refuses_deletion, terminating};

use crate::kind::Particular;

/// What is particular to a kind; none if it is not one of these.
pub fn particular(api_version: &str, kind: &str) -> Option<&'static dyn Particular> {
    Some(match (api_version, kind) {
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => &crd::Crd,
        ("v1", "Namespace") => &namespace::Namespace,
        ("v1", "ConfigMap") => &data::ConfigMap,
        ("v1", "Secret") => &data::Secret,
        ("v1", "ServiceAccount") => &small::ServiceAccount,
        ("v1", "Endpoints") => &endpoints::Endpoints,
        ("v1", "Event") => &event::Event { is_new: false },
        ("events.k8s.io/v1", "Event") => &event::Event { is_new: true },
        ("coordination.k8s.io/v1", "Lease") => &small::Lease,
        ("policy/v1", "PodDisruptionBudget") => &disruption_budget::PodDisruptionBudget,
        ("discovery.k8s.io/v1", "EndpointSlice") => &endpoint_slice::EndpointSlice,
        ("storage.k8s.io/v1", "StorageClass") => &storage_class::StorageClass,
        ("rbac.authorization.k8s.io/v1", "Role") => &rbac::Role { namespaced: true },
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => &rbac::Role { namespaced: false },
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => &rbac::Binding { namespaced: true },
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => &rbac::Binding { namespaced: false },
        _ => return None,
    })
}
