//! Two lists merged into one: scalars as sets, objects by their key.

use serde_json::Value;

use super::directives::{MARKER, Marker, marker};
use super::order::{in_order, no_key, partition};
use super::{Object, Rules};
use crate::apply::literal::go_print;
use crate::apply::patch_error::PatchError;

/// What the items of a list are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    Objects,
    Scalars,
}

/// What the items of both lists are; they must all be of one kind.
pub(super) fn element_kind(old: &[Value], new: &[Value]) -> Result<ElementKind, PatchError> {
    let all = || old.iter().chain(new);
    let Some(first) = all().next() else {
        return Err(PatchError::Internal("no elements in any of the given slices".into()));
    };
    if first.is_array() {
        return Err(PatchError::DoesNotApply("lists of lists are not supported".into()));
    }
    if all().any(|item| std::mem::discriminant(item) != std::mem::discriminant(first)) {
        let both = Value::from(vec![Value::from(old.to_vec()), Value::from(new.to_vec())]);
        return Err(PatchError::Internal(format!(
            "list element types are not identical: {}",
            go_print(&both)
        )));
    }
    Ok(if first.is_object() { ElementKind::Objects } else { ElementKind::Scalars })
}

/// Merges the patched list into the old one, or deletes its items from it.
pub(super) fn merge_lists(
    rules: &Rules<'_>,
    old: Vec<Value>,
    new: Vec<Value>,
    key: Option<&str>,
    at: &str,
    deletes: bool,
) -> Result<Vec<Value>, PatchError> {
    if old.is_empty() && new.is_empty() {
        return Ok(old);
    }
    let (merged, old, new) = match (element_kind(&old, &new)?, key) {
        (ElementKind::Scalars, _) if deletes => {
            return Ok(old.into_iter().filter(|item| !new.contains(item)).collect());
        }
        (ElementKind::Scalars, _) => (united(&old, &new), old, new),
        (ElementKind::Objects, None) => {
            return Err(PatchError::Internal("cannot merge lists without merge key for struct".into()));
        }
        (ElementKind::Objects, Some(key)) => {
            let (old, new) = follow_markers(old, new, key)?;
            (by_key(rules, old.clone(), &new, key, at)?, old, new)
        }
    };
    let (chosen, others) = partition(merged, &new, key)?;
    in_order(chosen, others, &new, &old, key)
}

/// The scalars of both, each once. What is repeated leaves its place to the last.
fn united(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = old.iter().chain(new).cloned().collect();
    let mut index = 0;
    while index < all.len() {
        let mut other = index + 1;
        while other < all.len() {
            if all[other] == all[index] {
                all.swap_remove(other);
            } else {
                other += 1;
            }
        }
        index += 1;
    }
    all
}

/// Deletes what the patch marks for deletion. A mark to replace makes the rest of the patch the whole list.
fn follow_markers(
    mut old: Vec<Value>,
    new: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::new();
    let mut replaces = false;
    for item in new {
        let fields = item.as_object().cloned().unwrap_or_default();
        match marker(&fields) {
            None => plain.push(item),
            Some(Marker::Delete) => {
                let gone = fields.get(key).ok_or_else(|| no_key(&item, key))?;
                old.retain(|item| item.get(key) != Some(gone));
            }
            Some(Marker::Replace) => replaces = true,
            Some(Marker::Merge) => {
                return Err(PatchError::Internal(
                    "merging lists cannot yet be specified in the patch".into(),
                ));
            }
            Some(Marker::Unknown) => {
                let (word, map) = (go_print(&fields[MARKER]), go_print(&item));
                return Err(PatchError::Internal(format!("unknown patch type: {word} in map: {map}")));
            }
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (old, plain) })
}

fn by_key(
    rules: &Rules<'_>,
    mut old: Vec<Value>,
    new: &[Value],
    key: &str,
    at: &str,
) -> Result<Vec<Value>, PatchError> {
    for item in new {
        let wanted = item.get(key).ok_or_else(|| no_key(item, key))?;
        let found = old.iter_mut().find(|item| item.get(key) == Some(wanted));
        match (found, item) {
            (Some(Value::Object(old)), Value::Object(item)) => {
                let merged: Object = rules.objects(std::mem::take(old), item.clone(), at)?;
                *old = merged;
            }
            _ => old.push(item.clone()),
        }
    }
    Ok(old)
}
