//! The order of a merged list: patched items as the patch has them, the others where they were.

use serde_json::Value;

use crate::apply::literal::go_print;
use crate::apply::patch_error::PatchError;

pub(super) fn no_key(item: &Value, key: &str) -> PatchError {
    PatchError::Internal(format!("map: {} does not contain declared merge key: {key}", go_print(item)))
}

/// What tells an item from others: the value of its key, or itself.
fn identity<'i>(item: &'i Value, key: Option<&str>) -> Result<&'i Value, PatchError> {
    match key {
        None => Ok(item),
        Some(key) => item.get(key).ok_or_else(|| no_key(item, key)),
    }
}

fn place(list: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    let wanted = identity(item, key).ok()?;
    list.iter().position(|other| identity(other, key).is_ok_and(|other| other == wanted))
}

/// Splits a list into the items that another one has too, and the rest.
pub(super) fn partition(
    items: Vec<Value>,
    by: &[Value],
    key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    for item in &items {
        identity(item, key)?;
    }
    Ok(items.into_iter().partition(|item| place(by, item, key).is_some()))
}

/// Puts both parts together: each in its own order, and where the old list knows both items, in the old one.
pub(super) fn in_order(
    mut chosen: Vec<Value>,
    mut others: Vec<Value>,
    order: &[Value],
    old: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    for item in order.iter().chain(old) {
        identity(item, key)?;
    }
    chosen.sort_by_key(|item| place(order, item, key).unwrap_or(usize::MAX));
    others.sort_by_key(|item| place(old, item, key).unwrap_or(usize::MAX));
    let mut all = Vec::new();
    let mut chosen = chosen.into_iter().peekable();
    for other in others {
        let before = |item: &Value| match (place(old, &other, key), place(old, item, key)) {
            (Some(other), Some(item)) => other < item,
            _ => false,
        };
        while let Some(item) = chosen.next_if(|item| !before(item)) {
            all.push(item);
        }
        all.push(other);
    }
    all.extend(chosen);
    Ok(all)
}
