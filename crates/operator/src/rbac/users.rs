//! What the people of a cluster may do with Muster's kinds, added to the roles that Kubernetes gives them.

use muster_api::names::{GROUP, LEASE_NAME};

use super::manifests::Rule;

const READ: &[&str] = &["get", "list", "watch"];

/// Whoever views a namespace sees its clusters, and by the Lease how old that is.
pub(super) const VIEW: &[Rule] = &[
    Rule { group: GROUP, resource: "replicatedclusters", verbs: READ, only: None, why: "" },
    Rule { group: GROUP, resource: "members", verbs: READ, only: None, why: "" },
    Rule {
        group: GROUP,
        resource: "replicationengines",
        verbs: READ,
        only: None,
        why: "whoever writes engines runs code everywhere",
    },
    Rule {
        group: "coordination.k8s.io",
        resource: "leases",
        verbs: &["get"],
        only: Some(LEASE_NAME),
        why: "how old a status is shows in the operator's Lease",
    },
];

const WRITE: &[&str] = &["create", "update", "patch", "delete", "deletecollection"];

/// Whoever edits a namespace writes what is wanted, and no status: that is the operator's.
pub(super) const EDIT: &[Rule] = &[
    Rule {
        group: GROUP,
        resource: "replicatedclusters",
        verbs: WRITE,
        only: None,
        why: "not their status, which is the operator's",
    },
    Rule { group: GROUP, resource: "members", verbs: WRITE, only: None, why: "" },
];
