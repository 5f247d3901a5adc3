//! The CEL rules of the CRDs, each with the message that a person reads when it refuses a manifest.
//!
//! The validation in Rust checks the same and says the same. Rules about a change name `oldSelf`; on optional
//! fields they stand on the parent, so that removing and adding the field does not get round them.

use kube::core::{Message, Rule};
use serde_json::{Value, json};

/// One CEL rule and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CelRule {
    /// The expression; true accepts.
    pub rule: &'static str,
    /// What the person reads who is refused.
    pub message: &'static str,
}

impl CelRule {
    /// As it stands in a schema's `x-kubernetes-validations`.
    pub fn to_value(&self) -> Value {
        json!({"rule": self.rule, "message": self.message})
    }
}

impl From<CelRule> for Rule {
    fn from(rule: CelRule) -> Self {
        Self::new(rule.rule).message(Message::Message(rule.message.to_owned()))
    }
}

macro_rules! rules {
    ($( $(#[$meta:meta])* $name:ident: $message:literal, $rule:literal; )+) => {
        $( $(#[$meta])* pub const $name: CelRule = CelRule { rule: $rule, message: $message }; )+

        /// Every rule.
        pub const ALL: &[CelRule] = &[$( $name, )+];
    };
}

rules! {
    // Quantities.
    /// A quantity must be above zero.
    QUANTITY_POSITIVE: "must be greater than zero",
        "quantity(string(self)).isGreaterThan(quantity('0'))";
    /// A pool's capacity only grows.
    CAPACITY_GROWS: "capacity can only grow",
        "!quantity(string(self)).isLessThan(quantity(string(oldSelf)))";

    // ReplicatedCluster.
    /// On the object: its name.
    CLUSTER_NAME: "the name of a ReplicatedCluster has at most 30 characters: lower-case letters, digits and dashes, starting with a letter and not ending with a dash",
        "self.metadata.name.size() <= 30 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')";
    /// On `spec.engine.name`.
    ENGINE_IMMUTABLE: "the engine of a cluster cannot be changed",
        "self == oldSelf";
    /// On `spec.engine.parameters`: names that can be file names.
    PARAMETER_NAMES: "the name of a parameter has at most 63 characters: letters, digits, dots, dashes and underscores, starting with a letter or an underscore",
        "self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_.-]{0,62}$'))";
    /// On `spec.pools`: what [`Threshold::most`](crate::cluster::Threshold::most) adds up to.
    POOLS_TOTAL: "the pools may come to more than 512 members in all: lower nodes or maxNodes",
        "self.map(p, has(p.threshold.nodes) ? p.threshold.nodes : has(p.threshold.maxNodes) ? p.threshold.maxNodes : [has(p.threshold.minNodes) ? p.threshold.minNodes : 0, has(p.threshold.freeStorageMin) || has(p.threshold.freeStorageMax) ? 32 : 0].max()).sum() <= 512";
    /// On a threshold: something is given.
    THRESHOLD_GIVEN: "give nodes, or at least one of minNodes, maxNodes, freeStorageMin and freeStorageMax",
        "has(self.nodes) || has(self.minNodes) || has(self.maxNodes) || has(self.freeStorageMin) || has(self.freeStorageMax)";
    /// On a threshold: `nodes` stands alone.
    THRESHOLD_NODES_ALONE: "nodes excludes minNodes, maxNodes, freeStorageMin and freeStorageMax",
        "!has(self.nodes) || !(has(self.minNodes) || has(self.maxNodes) || has(self.freeStorageMin) || has(self.freeStorageMax))";
    /// On a threshold: counts in order.
    THRESHOLD_NODES_ORDER: "minNodes must be less than maxNodes",
        "!has(self.minNodes) || !has(self.maxNodes) || self.minNodes < self.maxNodes";
    /// On a threshold: free storage in order.
    THRESHOLD_FREE_STORAGE_ORDER: "freeStorageMin must be less than freeStorageMax",
        "!has(self.freeStorageMin) || !has(self.freeStorageMax) || quantity(string(self.freeStorageMin)).isLessThan(quantity(string(self.freeStorageMax)))";
    /// On a pool's storage.
    STORAGE_CLASS_IMMUTABLE: "storageClassName cannot be changed: add another pool",
        "has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)";

    // Member.
    /// On the object: its name.
    MEMBER_NAME: "the name of a Member has at most 52 characters: lower-case letters, digits and dashes, neither starting nor ending with a dash",
        "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')";
    /// On the object: `claim` is for members made from a pool.
    CLAIM_OF_POOL_MEMBER: "claim is for members made from a pool, called <clusterName>-<pool>-<ordinal>: give the pvcName of an existing claim instead",
        "!has(self.spec.storage) || !self.spec.storage.exists(s, has(s.claim)) || (self.metadata.name.startsWith(self.spec.clusterName + '-' + self.spec.pool + '-') && self.metadata.name.substring(self.spec.clusterName.size() + self.spec.pool.size() + 2).matches('^(0|[1-9][0-9]{0,3})$'))";
    /// On the object: the claim is named after the member.
    CLAIM_NAME: "where claim is given, pvcName must be data-<name of the Member>",
        "!has(self.spec.storage) || self.spec.storage.all(s, !has(s.claim) || (has(s.pvcName) && s.pvcName.startsWith('data-') && s.pvcName.substring(5) == self.metadata.name))";
    /// On `spec.clusterName`.
    MEMBER_CLUSTER_IMMUTABLE: "the cluster of a Member cannot be changed",
        "self == oldSelf";
    /// On `spec.pool`.
    MEMBER_POOL_IMMUTABLE: "the pool of a Member cannot be changed",
        "self == oldSelf";
    /// On the spec: where the member is.
    EXTERNAL_OR_STORAGE: "give exactly one of external and storage",
        "has(self.external) != has(self.storage)";
    /// On the spec: where the member is does not change.
    EXTERNAL_IMMUTABLE: "a Member cannot change between external and storage",
        "has(self.external) == has(oldSelf.external)";
    /// On a storage entry.
    DEVICE_OR_PVC: "give exactly one of device and pvcName",
        "has(self.device) != has(self.pvcName)";
    /// On `spec.storage`.
    STORAGE_UNIQUE: "each device and each pvcName may be given once",
        "self.all(a, (!has(a.pvcName) || self.exists_one(b, has(b.pvcName) && b.pvcName == a.pvcName)) && (!has(a.device) || self.exists_one(b, has(b.device) && b.device == a.device)))";
    /// On the spec: a claim stays, and grows.
    CLAIM_GROWS: "a claim cannot be taken away, and its capacity can only grow",
        "!has(oldSelf.storage) || oldSelf.storage.all(o, !has(o.claim) || (has(self.storage) && self.storage.exists(s, has(s.claim) && has(s.pvcName) && s.pvcName == o.pvcName && !quantity(string(s.claim.capacity)).isLessThan(quantity(string(o.claim.capacity))))))";
    /// On the spec: a claim keeps its class.
    CLAIM_CLASS_IMMUTABLE: "the storageClassName of a claim cannot be changed",
        "!has(oldSelf.storage) || !has(self.storage) || oldSelf.storage.all(o, !has(o.claim) || self.storage.all(s, !has(s.claim) || !has(s.pvcName) || s.pvcName != o.pvcName || (has(s.claim.storageClassName) == has(o.claim.storageClassName) && (!has(s.claim.storageClassName) || s.claim.storageClassName == o.claim.storageClassName))))";

    // ReplicationEngine.
    /// On the object: its name.
    ENGINE_NAME: "the name of a ReplicationEngine has at most 63 characters: lower-case letters, digits and dashes, neither starting nor ending with a dash",
        "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')";
    /// On `spec.topology.acknowledgedCopies`.
    ACKNOWLEDGED_COPIES: "must be a number from 1 to 512, or Majority",
        "type(self) == int ? self >= 1 && self <= 512 : self == 'Majority'";
    /// On the spec's template.
    MAIN_GIVEN: "one container must be called main: the agent runs the actions in it",
        "self.containers.exists(c, c.name == 'main')";
    /// On the spec: every container gets an image in every version.
    IMAGES_GIVEN: "each container needs an image: its own, or one in the images of every version",
        "self.versions.all(v, self.template.containers.all(c, has(c.image) || (has(v.images) && c.name in v.images)))";
    /// On `spec.files`.
    FILE_NAMES: "the name of a file has at most 253 characters: letters, digits, dots, dashes and underscores, not starting with a dot",
        "self.all(name, name.size() <= 253 && name.matches('^[A-Za-z0-9_-][A-Za-z0-9._-]*$'))";
    /// On a driver.
    DRIVER_IMAGES_GIVEN: "each container of a driver needs an image",
        "self.template.containers.all(c, has(c.image))";
    /// On a container.
    CONTAINER_NAME_RESERVED: "container names that start with muster- are Muster's own",
        "!self.name.startsWith('muster-')";
    /// On an environment variable.
    ENV_ONE_SOURCE: "give value or secretKey, not both",
        "!has(self.value) || !has(self.secretKey)";
    /// On an environment variable.
    ENV_NAME_RESERVED: "environment variables that start with MUSTER_ are Muster's own",
        "!self.name.startsWith('MUSTER_')";
    /// On a probe.
    PROBE_ONE_KIND: "give exactly one of exec, httpGet and tcpSocket",
        "[has(self.exec), has(self.httpGet), has(self.tcpSocket)].exists_one(given, given)";
    /// On a volume.
    VOLUME_ONE_KIND: "give exactly one of emptyDir, configMap and secret",
        "[has(self.emptyDir), has(self.configMap), has(self.secret)].exists_one(given, given)";
    /// On a volume.
    VOLUME_NAME_RESERVED: "the volume data is the member's own, and names that start with muster- are Muster's",
        "self.name != 'data' && !self.name.startsWith('muster-')";
}
