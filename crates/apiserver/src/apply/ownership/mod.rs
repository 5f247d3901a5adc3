//! Who owns which fields of an object, and how writes move that.

mod cap;
mod conflict;
mod entries;
mod last_applied;
mod move_fields;
mod prune;
mod scale;
mod server_side;
mod times;
mod update;

pub use conflict::{Cause, Conflict, Conflicts};
pub use entries::{ManagedEntry, Operation, managed_entries, validate_managed_fields};
pub use scale::{ReplicasPaths, owners_after_scale, scale_owners};
pub use server_side::{Applied, ApplyError, apply};
pub use times::keep_times_of_equal;
pub use update::track_update;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::fields::FieldSet;
use super::typing::Typing;

/// The longest name that the server takes from a user agent.
const MANAGER_MAX_BYTES: usize = 128;

/// The types of a kind by `apiVersion`. What is owned in a version that is not here is forgotten.
pub type Typings = BTreeMap<String, Typing>;

/// Who writes, what, and when.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The types of the kind in all its versions.
    pub typings: &'a Typings,
    /// The group and version of the request, as `apiVersion` has it.
    pub api_version: &'a str,
    /// The kind that the request is about.
    pub kind: &'a str,
    /// The subresource of the request; empty for the object itself.
    pub subresource: &'a str,
    /// The name under which the writer owns fields.
    pub manager: &'a str,
    /// Fields that this kind of request cannot change, whatever is sent: nobody comes to own them.
    pub reset: &'a FieldSet,
    /// An object of the kind with nothing set: `{}` for a custom resource, [`crate::apply::empty_object`] for a
    /// built-in kind. What it has is nobody's by being there.
    pub empty: &'a Value,
    /// The time of the request.
    pub now: Timestamp,
}

/// What a write to an object itself cannot change, if its kind has a `status` subresource.
pub fn reset_by_main(has_status: bool) -> FieldSet {
    if has_status { FieldSet::of_names(&[&["status"]]) } else { FieldSet::new() }
}

/// What a write to a custom resource's status cannot change.
pub fn reset_by_status() -> FieldSet {
    FieldSet::of_names(&[&["metadata"], &["spec"]])
}

/// The name of a writer: the one it gives, or the beginning of its user agent.
pub fn manager_name(given: &str, user_agent: &str) -> String {
    if !given.is_empty() {
        return given.into();
    }
    let mut name = String::new();
    let product = user_agent.split('/').next().unwrap_or_default();
    for c in product.chars().filter(|c| !c.is_control()) {
        if name.len() + c.len_utf8() > MANAGER_MAX_BYTES {
            break;
        }
        name.push(c);
    }
    name
}

/// What nobody owns: identity, and what the server itself keeps.
static NEVER_OWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let kept = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let kept = kept.map(|name| FieldSet::of_names(&[&["metadata", name]]));
    let roots = FieldSet::of_names(&[&["apiVersion"], &["kind"], &["metadata"]]);
    kept.iter().fold(roots, |all, one| all.union(one))
});

#[cfg(test)]
mod tests;
