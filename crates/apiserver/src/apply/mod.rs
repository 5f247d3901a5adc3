//! How a write changes an object and who owns its fields afterwards: JSON, merge and strategic merge patches, and
//! server-side apply with its managed fields. Pure: the live object goes in, the new one comes out.

mod fields;
mod json_patch;
mod literal;
mod merge_patch;
mod ownership;
mod patch_error;
mod strategic;
mod typed;
mod typing;

pub use fields::{FieldSet, Path, PathElement, path_text};
pub use json_patch::json_patch;
pub use literal::Literal;
pub(crate) use literal::json as json_text;
pub use merge_patch::merge_patch;
pub use ownership::{
    Applied, ApplyError, Cause, Conflict, Conflicts, ManagedEntry, Operation, ReplicasPaths, Typings, Write,
    apply, keep_times_of_equal, managed_entries, manager_name, owners_after_scale, reset_by_main,
    reset_by_status, scale_owners, track_update, validate_managed_fields,
};
pub use patch_error::PatchError;
pub use strategic::{FieldMerge, MergeKeys, strategic_merge_patch};
pub(crate) use typing::reference;
pub use typing::{SchemaError, Typing, empty_object};

#[cfg(test)]
mod tests;
