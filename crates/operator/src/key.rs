//! What the controllers work on: one cluster, one Member or one engine at a time.

use std::fmt;

use kube::ResourceExt;

/// The name of an object in its namespace; of a cluster-scoped one, the namespace is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// Its namespace.
    pub namespace: String,
    /// Its name there.
    pub name: String,
}

impl Name {
    /// The object of this name in this namespace.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The name of this object.
    pub fn of(object: &impl ResourceExt) -> Self {
        Self { namespace: object.namespace().unwrap_or_default(), name: object.name_any() }
    }

    /// Another name in the same namespace.
    #[must_use]
    pub fn beside(&self, name: impl Into<String>) -> Self {
        Self { namespace: self.namespace.clone(), name: name.into() }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// What one pass is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A `ReplicatedCluster`.
    Cluster(Name),
    /// A `Member`.
    Member(Name),
    /// A `ReplicationEngine`.
    Engine(String),
}

impl Key {
    /// The kind, for logs and metrics.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Cluster(_) => "ReplicatedCluster",
            Self::Member(_) => "Member",
            Self::Engine(_) => "ReplicationEngine",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(name) | Self::Member(name) => write!(f, "{} {name}", self.kind()),
            Self::Engine(name) => write!(f, "{} {name}", self.kind()),
        }
    }
}
