//! What stands against an apply, in the server's words.

use std::collections::BTreeMap;
use std::fmt;

use super::entries::{ManagedEntry, Operation};
use crate::apply::fields::{FieldSet, Path, path_text};
use crate::apply::literal::quoted;

/// One field that somebody else owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner, as messages name it: `"kubectl" using v1`.
    pub owner: String,
    /// The field.
    pub path: Path,
    identity: String,
}

/// A line of the `details` of the answer, with reason `FieldManagerConflict`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `conflict with "x"`.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// Everything that stands against an apply. Its text is the message of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

impl Conflicts {
    pub(super) fn add(&mut self, owner: &ManagedEntry, fields: &FieldSet) {
        let (name, identity) = (owner_text(owner), owner.identity());
        self.0.extend(fields.paths().into_iter().map(|path| Conflict {
            owner: name.clone(),
            path,
            identity: identity.clone(),
        }));
    }

    /// The fields in conflict, whoever owns them.
    pub fn fields(&self) -> FieldSet {
        let mut set = FieldSet::new();
        for conflict in &self.0 {
            set.insert(&conflict.path);
        }
        set
    }

    /// The conflicts about other fields than these.
    #[must_use]
    pub(super) fn except(&self, allowed: &FieldSet) -> Self {
        Self(self.0.iter().filter(|conflict| !allowed.has(&conflict.path)).cloned().collect())
    }

    /// The causes of the answer.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &Conflict| Cause {
            message: format!("conflict with {}", conflict.owner),
            field: path_text(&conflict.path),
        };
        self.0.iter().map(cause).collect()
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            let (owner, path) = (&only.owner, path_text(&only.path));
            return write!(f, "Apply failed with 1 conflict: conflict with {owner}: {path}");
        }
        let mut by_owner: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for conflict in &self.0 {
            by_owner.entry(&conflict.identity).or_default().push(conflict);
        }
        let mut lines = Vec::new();
        for conflicts in by_owner.values() {
            lines.extend(conflicts.first().map(|first| format!("conflicts with {}:", first.owner)));
            lines.extend(conflicts.iter().map(|conflict| format!("- {}", path_text(&conflict.path))));
        }
        write!(f, "Apply failed with {} conflicts: {}", self.0.len(), lines.join("\n"))
    }
}

fn owner_text(owner: &ManagedEntry) -> String {
    let mut text = quoted(&owner.manager);
    if !owner.subresource.is_empty() {
        text = format!("{text} with subresource {}", quoted(&owner.subresource));
    }
    match owner.operation {
        Operation::Apply => text,
        Operation::Update => format!("{text} using {}", owner.api_version),
    }
}
