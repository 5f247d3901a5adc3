//! Which fields of a kind are merged, and by which key. Schemas say it with `x-kubernetes-patch-strategy` and
//! `x-kubernetes-patch-merge-key`.

use std::collections::BTreeMap;

/// How one field is patched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMerge {
    /// Whether a list is merged rather than replaced.
    pub merge: bool,
    /// Whether an object is replaced rather than merged.
    pub replace: bool,
    /// The field by which the items of a merged list are told apart; none if they are scalars.
    pub key: Option<String>,
}

impl FieldMerge {
    /// Reads a strategy as schemas write it: `merge`, `replace`, `retainKeys`, or two of them with a comma.
    pub fn new(strategy: &str, key: Option<&str>) -> Self {
        let has = |wanted| strategy.split(',').any(|one| one == wanted);
        Self { merge: has("merge"), replace: has("replace"), key: key.map(Into::into) }
    }
}

/// The fields of one kind that are not simply replaced. A path is the names of the fields with dots between them,
/// and goes through lists: `spec.template.spec.containers.ports`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeKeys(BTreeMap<String, FieldMerge>);

impl MergeKeys {
    /// How the field at this path is patched.
    pub(super) fn at(&self, path: &str) -> FieldMerge {
        self.0.get(path).cloned().unwrap_or_default()
    }
}

impl<P: Into<String>> FromIterator<(P, FieldMerge)> for MergeKeys {
    fn from_iter<T: IntoIterator<Item = (P, FieldMerge)>>(fields: T) -> Self {
        Self(fields.into_iter().map(|(path, field)| (path.into(), field)).collect())
    }
}
