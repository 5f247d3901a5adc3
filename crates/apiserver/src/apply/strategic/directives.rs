//! What a patch says besides values: `$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`.

use serde_json::Value;

use super::lists::element_kind;
use super::order::{in_order, partition};
use super::{Object, Rules, below};
use crate::apply::literal::go_print;
use crate::apply::patch_error::PatchError;

/// Says what to do with the object or item that it is in.
pub(super) const MARKER: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
pub(super) const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";

pub(super) enum Marker {
    Replace,
    Delete,
    Merge,
    Unknown,
}

pub(super) fn marker(patch: &Object) -> Option<Marker> {
    patch.get(MARKER).map(|word| match word.as_str() {
        Some("replace") => Marker::Replace,
        Some("delete") => Marker::Delete,
        Some("merge") => Marker::Merge,
        _ => Marker::Unknown,
    })
}

/// The value without the objects that are marked; none if it is one itself.
pub(super) fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(MARKER) => None,
        Value::Object(fields) => {
            let kept =
                fields.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// Removes the fields that are null: there is nothing that they could remove.
pub(super) fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Removes all fields but the named ones, if the patch names some; the patch may set no others.
pub(super) fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), PatchError> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || PatchError::BadRequest("invalid patch format of retainKeys".into());
    let Value::Array(retained) = retained else { return Err(malformed()) };
    let is_retained = |name: &str| retained.iter().any(|one| one == name);
    let exempt = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ELEMENT_ORDER);
    if patch.iter().any(|(name, value)| !value.is_null() && !exempt(name) && !is_retained(name)) {
        return Err(malformed());
    }
    original.retain(|name, _| is_retained(name));
    Ok(())
}

/// Merges the lists that the patch gives an order, and takes them out of the patch.
pub(super) fn set_element_order(
    rules: &Rules<'_>,
    original: &mut Object,
    patch: &mut Object,
    at: &str,
) -> Result<(), PatchError> {
    let ordered: Vec<_> = patch.keys().filter(|name| name.starts_with(SET_ELEMENT_ORDER)).cloned().collect();
    for directive in ordered {
        let order = list_of(patch.remove(&directive))?.unwrap_or_default();
        let Some((SET_ELEMENT_ORDER, name)) = directive.split_once('/') else {
            return Err(malformed_order());
        };
        let old = list_of(original.get(name).cloned())?;
        let new = list_of(patch.get(name).cloned())?;
        let at = below(at, name);
        let key = rules.keys.at(&at).key;
        follows(new.as_deref().unwrap_or_default(), &order, key.as_deref())?;
        let merged = match (old.clone(), new.clone()) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
            (Some(old), Some(new)) => rules.lists(old, new, &at, false)?,
        };
        let (chosen, others) = partition(merged, &order, key.as_deref())?;
        let old = old.unwrap_or_default();
        element_kind(&old, &new.unwrap_or_default())?;
        original.insert(name.into(), Value::Array(in_order(chosen, others, &order, &old, key.as_deref())?));
        patch.remove(name);
    }
    Ok(())
}

fn malformed_order() -> PatchError {
    PatchError::BadRequest("invalid patch format of setElementOrder list".into())
}

fn list_of(value: Option<Value>) -> Result<Option<Vec<Value>>, PatchError> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => {
            let kind = match other {
                Value::Object(_) => "map[string]interface {}",
                Value::String(_) => "string",
                Value::Bool(_) => "bool",
                Value::Number(_) => "int64",
                _ => "%!s(<nil>)",
            };
            Err(PatchError::Internal(format!("expected a []interface {{}}, but received a {kind}")))
        }
    }
}

/// The items of a patched list must come in the order that the patch gives.
fn follows(items: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchError> {
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    let unmarked = |item: &&Value| item.as_object().is_none_or(|item| !item.contains_key(MARKER));
    let mut wanted = items.iter().filter(unmarked).peekable();
    for placed in order {
        let identity = |item: &Value| key.map_or(Some(item.clone()), |key| item.get(key).cloned());
        if wanted.peek().is_some_and(|item| identity(item) == identity(placed)) {
            wanted.next();
        }
    }
    if wanted.peek().is_none() {
        return Ok(());
    }
    let (items, order) = (go_print(&Value::from(items.to_vec())), go_print(&Value::from(order.to_vec())));
    Err(PatchError::Internal(format!(
        "The order in patch list:\n{items}\n doesn't match {SET_ELEMENT_ORDER} list:\n{order}\n"
    )))
}
