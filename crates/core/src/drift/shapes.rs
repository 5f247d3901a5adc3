//! Which fields the API server merges and which it takes as one value, by their names.
//!
//! `managedFields` alone does not tell: `{}` is a value that is owned as a whole, and also what is left when others took all
//! that was ours below it. A test compares these names with a real server's description of the kinds that we build.

/// Objects of Kubernetes' own kinds that are one value; all others are merged field by field.
pub const WHOLE_OBJECTS: [&str; 12] = [
    "configMapKeyRef",
    "dataSource",
    "fieldRef",
    "fileKeyRef",
    "labelSelector",
    "nodePublishSecretRef",
    "nodeSelector",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "resourceFieldRef",
    "secretKeyRef",
    "secretRef",
    "selector",
];

/// Lists of Kubernetes' own kinds that are merged, by key or as a set; all others are one value.
pub const MERGED_LISTS: [&str; 16] = [
    "claims",
    "containers",
    "env",
    "ephemeralContainers",
    "finalizers",
    "hostAliases",
    "imagePullSecrets",
    "initContainers",
    "ownerReferences",
    "ports",
    "resourceClaims",
    "schedulingGates",
    "topologySpreadConstraints",
    "volumeDevices",
    "volumeMounts",
    "volumes",
];

/// The only lists of a Member outside its status that are merged: those that every kind has.
const MERGED_IN_OURS: [&str; 2] = ["finalizers", "ownerReferences"];

/// Whose kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Kubernetes' own.
    BuiltIn,
    /// A CRD, as ours are: objects are merged.
    Defined,
}

impl Kinds {
    pub(super) fn of(api_version: &str) -> Self {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        if group.contains('.') && !group.ends_with(".k8s.io") { Self::Defined } else { Self::BuiltIn }
    }

    pub(super) fn is_whole_object(self, field: &str) -> bool {
        self == Self::BuiltIn && WHOLE_OBJECTS.contains(&field)
    }

    pub(super) fn is_merged_list(self, field: &str) -> bool {
        match self {
            Self::BuiltIn => MERGED_LISTS.contains(&field),
            Self::Defined => MERGED_IN_OURS.contains(&field),
        }
    }

    /// Whether the API server knows quantities there, and rewrites them to one form.
    pub(super) fn knows_quantities(self) -> bool {
        self == Self::BuiltIn
    }
}
