//! What the operator may ask of the API server: one table, from which its roles are written (`deploy/rbac`), and with which
//! a test compares what it really asks for.
//!
//! A call that is new in the code is a new word in the table; a word that no call needs any more goes.

mod manifests;
mod users;

pub use self::manifests::{Manifest, for_all_namespaces, for_namespace, for_users, manifests};

/// Where a permission is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Wherever clusters are looked after: in one namespace, or in all.
    Clusters,
    /// Beside the clusters, in no namespace, whatever is looked after.
    Beside,
    /// Only for an operator of all namespaces, in all of them or in none.
    Everywhere,
    /// Where the operator's own Lease is.
    Lease,
}

/// What may be done with one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The API group; "" for the oldest one.
    pub group: &'static str,
    /// The resource, with its subresource after a slash.
    pub resource: &'static str,
    /// What the code calls.
    pub verbs: &'static [&'static str],
    /// What no call is named after and yet is needed, with the reason.
    pub besides: &'static [(&'static str, &'static str)],
    /// The only name that it is needed for; none for any.
    pub only: Option<&'static str>,
    /// Where.
    pub scope: Scope,
    /// What for.
    pub why: &'static str,
}

impl Permission {
    /// All verbs, in the order in which people write them.
    pub fn all_verbs(&self) -> Vec<&'static str> {
        const ORDER: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];
        let has = |verb: &str| self.verbs.contains(&verb) || self.besides.iter().any(|(it, _)| *it == verb);
        ORDER.into_iter().filter(|verb| has(verb)).collect()
    }

    const fn new(
        scope: Scope,
        group: &'static str,
        resource: &'static str,
        verbs: &'static [&'static str],
        why: &'static str,
    ) -> Self {
        Self { group, resource, verbs, besides: &[], only: None, scope, why }
    }

    /// Written by server-side apply.
    const fn applied(self) -> Self {
        Self { besides: &[("create", "an apply of what is not there yet is a creation")], ..self }
    }

    const fn only(self, name: &'static str) -> Self {
        Self { only: Some(name), ..self }
    }
}

use Scope::{Beside, Clusters, Everywhere, Lease};
use muster_api::names::{GROUP, LEASE_NAME};

/// A kind that is watched and read again when the answer to a write was lost; and it is deleted.
const KEPT: &[&str] = &["get", "watch", "patch", "delete"];
/// The same, but its owner takes it along.
const OWNED: &[&str] = &["get", "watch", "patch"];

/// A status of ours: swapped by its version, and where others edit the object all the time by what it was made from.
const REPORTED: &[&str] = &["update", "patch"];

/// Everything. Secrets are never listed or watched, and nothing is executed in a Pod.
pub const PERMISSIONS: &[Permission] = &[
    Permission::new(
        Clusters,
        GROUP,
        "replicatedclusters",
        OWNED,
        "to see what is wanted, set the finalizer, and take up requests",
    ),
    Permission::new(Clusters, GROUP, "replicatedclusters/status", REPORTED, "to report"),
    Permission::new(Clusters, GROUP, "members", KEPT, "one for each replica of a cluster").applied(),
    Permission::new(Clusters, GROUP, "members/status", REPORTED, "to report"),
    Permission::new(Clusters, "apps", "statefulsets", KEPT, "the workload of each Member").applied(),
    Permission::new(Clusters, "apps", "deployments", KEPT, "drivers that run beside the members").applied(),
    Permission::new(Clusters, "apps", "daemonsets", KEPT, "drivers that run on every node").applied(),
    Permission::new(
        Clusters,
        "",
        "pods",
        KEPT,
        "to keep the labels of each, its role among them, and to replace one whose agent confirmed the stop",
    ),
    Permission::new(
        Clusters,
        "",
        "persistentvolumeclaims",
        KEPT,
        "the data of each Member: made, marked as formed, grown, and deleted where retention says so",
    )
    .applied(),
    Permission::new(Clusters, "", "configmaps", KEPT, "what members run, fixed at each version").applied(),
    Permission::new(Clusters, "", "services", OWNED, "the addresses of a cluster").applied(),
    Permission::new(
        Clusters,
        "policy",
        "poddisruptionbudgets",
        OWNED,
        "so that a drain takes no more than a cluster can bear",
    )
    .applied(),
    Permission::new(
        Clusters,
        "",
        "secrets",
        &["get", "create", "update", "delete"],
        "accounts, the certificates of agents, and what a spec names: each by its name, never listed",
    ),
    Permission::new(Clusters, "events.k8s.io", "events", &["create"], "to tell people"),
    Permission::new(Beside, GROUP, "replicationengines", &["watch"], "to know what clusters run"),
    Permission::new(Beside, "storage.k8s.io", "storageclasses", &["watch"], "to check what a pool names"),
    Permission::new(
        Everywhere,
        GROUP,
        "replicationengines/status",
        &["update"],
        "to say whether it holds together",
    ),
    Permission::new(
        Everywhere,
        "",
        "nodes",
        &["watch"],
        "a node out of service proves that nothing runs on it",
    ),
    Permission::new(Everywhere, "", "namespaces", &["watch"], "engines choose namespaces by their labels"),
    Permission::new(
        Everywhere,
        "coordination.k8s.io",
        "leases",
        &["list", "watch"],
        "to leave alone the namespaces that have an operator of their own",
    )
    .only(LEASE_NAME),
    Permission::new(Lease, "coordination.k8s.io", "leases", &["create"], "the leader's Lease"),
    Permission::new(Lease, "coordination.k8s.io", "leases", &["get", "update"], "to take it and to keep it")
        .only(LEASE_NAME),
];
