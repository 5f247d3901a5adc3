//! Ownership after a write that is not an apply: whoever changes a field owns it.

use serde_json::Value;

use super::NEVER_OWNED;
use super::Write;
use super::cap::cap_updaters;
use super::entries::{Managed, ManagedEntry, Operation, decode, encode, forget, listed};
use super::move_fields::{Refused, take_changes, typing_of, under_todays_schema};
use crate::apply::typed::{Duplicates, check};
use crate::apply::typing::Typing;

/// The new object with its `managedFields`. `live` is what it replaces, none for a create. Never fails: where the
/// objects do not fit their types, the new one is left without owners, as on the server.
pub fn track_update(live: Option<&Value>, new: Value, write: &Write<'_>) -> Value {
    let live = live.unwrap_or(write.empty);
    let managed = live_or_new(live, &new, write);
    let mut object = new;
    forget(&mut object);
    if managed.is_empty() && live["metadata"]["uid"].as_str().is_some_and(|uid| !uid.is_empty()) {
        // Whoever has taken the owners out of an object does not want them back.
        return object;
    }
    if let Ok(managed) = update(live, &object, managed, write) {
        encode(&mut object, &managed);
    }
    object
}

/// The owners that a write starts from: those that it brings, if it may and they can be read.
fn live_or_new(live: &Value, new: &Value, write: &Write<'_>) -> Managed {
    if write.subresource.is_empty() {
        if is_reset(listed(new)) {
            return Managed::new();
        }
        if let Ok(managed) = decode(new)
            && !managed.is_empty()
        {
            return managed;
        }
    }
    decode(live).unwrap_or_default()
}

/// An empty list, or a list of one empty entry, asks to forget all owners.
fn is_reset(listed: Option<&Vec<Value>>) -> bool {
    let empty = |entry: &Value| {
        let unset = |value: &Value| value.is_null() || value.as_str() == Some("");
        entry.as_object().is_some_and(|entry| entry.values().all(unset))
    };
    match listed.map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => empty(only),
        _ => false,
    }
}

/// Gives the writer what it changed, beside what it owned before.
pub(super) fn update(
    live: &Value,
    new: &Value,
    managed: Managed,
    write: &Write<'_>,
) -> Result<Managed, String> {
    let typing = typing_of(write)?;
    fits(typing, new, "new")?;
    fits(typing, live, "live")?;
    let managed = under_todays_schema(write.typings, managed);
    let (mut managed, changes) = match take_changes(write, live, new, managed, None, true) {
        Ok(moved) => moved,
        Err(Refused::Broken(reason)) => return Err(reason),
        Err(Refused::Conflicts(conflicts)) => return Err(conflicts.to_string()),
    };
    let touched = changes.modified.union(&changes.added).difference(&NEVER_OWNED);
    if !touched.is_empty() {
        let writer = ManagedEntry::of(write, Operation::Update);
        let entry = managed.entry(writer.identity()).or_insert(writer);
        entry.fields = touched.union(&entry.fields);
        entry.time = Some(write.now);
    }
    cap_updaters(&mut managed);
    Ok(managed)
}

fn fits(typing: &Typing, object: &Value, which: &str) -> Result<(), String> {
    let problems = check(typing.view(), object, Duplicates::Allowed);
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("failed to convert {which} object to smd typed: {problems}"))
}
