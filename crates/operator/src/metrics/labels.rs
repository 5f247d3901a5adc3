//! By what figures are told apart.

use prometheus_client::encoding::EncodeLabelSet;

/// An object's name. Cluster-scoped ones have no namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ObjectLabels {
    pub(super) name: String,
    pub(super) namespace: String,
}

/// A member of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MemberLabels {
    pub(super) cluster: String,
    pub(super) name: String,
    pub(super) namespace: String,
}

/// A kind of object, by the words of [`words`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct KindLabels {
    pub(super) kind: &'static str,
}

/// Why something failed. The word is named in the code, so there are few.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReasonLabels {
    pub(super) kind: &'static str,
    pub(super) reason: &'static str,
}

/// How something ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ResultLabels {
    pub(super) kind: &'static str,
    pub(super) result: &'static str,
}

/// A phase of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PhaseLabels {
    pub(super) phase: &'static str,
}

/// The values of `result`.
pub mod words {
    /// It did what it was to do.
    pub const SUCCEEDED: &str = "succeeded";
    /// It did not, and is tried again.
    pub const FAILED: &str = "failed";
}

/// What became of a status that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It was.
    Written,
    /// It was stored like that already.
    Equal,
    /// Someone else wrote in between.
    Conflict,
    /// It could not be.
    Failed,
}

impl Written {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Equal => "equal",
            Self::Conflict => "conflict",
            Self::Failed => "failed",
        }
    }
}
