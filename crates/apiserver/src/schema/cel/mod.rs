//! The rules of `x-kubernetes-validations`, in the Common Expression Language.
//!
//! Expressions are evaluated by the crate `cel` with Kubernetes' functions from `kube-cel`. Where they are evaluated,
//! and what `oldSelf` is there, is decided here: items of lists of type `map` are found again by their keys.

mod absorb;
mod check;
mod environment;
mod errors;
mod field_path;
mod names;
mod program;
mod rewrite;
mod types;
mod values;
mod walk;

pub(crate) use check::RuleCheck;
pub(crate) use field_path::normalize as normalize_field_path;
pub(crate) use program::Compiled;
pub(crate) use walk::validate;

#[cfg(test)]
mod tests;
