//! Server-side apply: the writer says all that it wants, and owns exactly that.

use serde_json::Value;

use super::conflict::Conflicts;
use super::entries::{Managed, ManagedEntry, Operation, decode, encode, forget, listed};
use super::last_applied;
use super::move_fields::{Refused, take_changes, typing_of, under_todays_schema};
use super::prune::prune;
use super::update::update;
use super::{NEVER_OWNED, Write};
use crate::apply::literal::equal;
use crate::apply::typed::{Duplicates, check, collect, merge};

/// Who owns what was there before anybody was tracked.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// What an apply made of the object.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The new object with its `managedFields`, before defaults are set.
    pub object: Value,
    /// Whether anything but ownership changed.
    pub changed: bool,
}

/// Why an apply was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Others own what it would change: 409 `Conflict`, with the causes.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The request makes no sense: 400 `BadRequest`.
    #[error("{0}")]
    BadRequest(String),
    /// The objects do not fit their types: 500 `InternalError`, as on the server.
    #[error("{0}")]
    Internal(String),
}

impl From<Refused> for ApplyError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Conflicts(conflicts) => Self::Conflicts(conflicts),
            Refused::Broken(reason) => Self::Internal(reason),
        }
    }
}

/// Applies a configuration to the live object; none if there is none yet.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    force: bool,
    write: &Write<'_>,
) -> Result<Applied, ApplyError> {
    let empty = new_object(config, write);
    let live = live.unwrap_or(&empty);
    check_kind(config, write)?;
    let managed = decode(live)
        .map_err(|reason| ApplyError::Internal(format!("failed to decode managed fields: {reason}")))?;
    if listed(config).is_some() {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".into()));
    }
    let tried = tracked(live, config, managed.clone(), force, write);
    let (mut applied, managed) = match tried {
        Err(ApplyError::Conflicts(conflicts)) if write.manager == last_applied::MANAGER => {
            let allowed = last_applied::allowed_conflicts(live, write)
                .ok_or(ApplyError::Conflicts(conflicts.clone()))?;
            if !conflicts.fields().difference(&allowed).is_empty() {
                return Err(ApplyError::Conflicts(conflicts.except(&allowed)));
            }
            tracked(live, config, managed, true, write)?
        }
        other => other?,
    };
    if write.manager == last_applied::MANAGER {
        last_applied::refresh(&mut applied.object, config);
    }
    encode(&mut applied.object, &managed);
    Ok(applied)
}

fn new_object(config: &Value, write: &Write<'_>) -> Value {
    let mut object = write.empty.as_object().cloned().unwrap_or_default();
    for name in ["apiVersion", "kind"] {
        object.extend(config.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    Value::Object(object)
}

fn group_version_kind(object: &Value) -> String {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    format!("{group}/{version}, Kind={}", text("kind"))
}

fn check_kind(config: &Value, write: &Write<'_>) -> Result<(), ApplyError> {
    let is = |name: &str, expected: &str| config.get(name).and_then(Value::as_str) == Some(expected);
    if is("apiVersion", write.api_version) && is("kind", write.kind) {
        return Ok(());
    }
    Err(ApplyError::BadRequest(format!("invalid object type: {}", group_version_kind(config))))
}

/// An apply to an object that nobody is tracked on first gives all of it to those before.
fn tracked(
    live: &Value,
    config: &Value,
    managed: Managed,
    force: bool,
    write: &Write<'_>,
) -> Result<(Applied, Managed), ApplyError> {
    let managed = if managed.is_empty() {
        let before = Write { manager: BEFORE_FIRST_APPLY, ..*write };
        let mut bare = live.clone();
        forget(&mut bare);
        update(&new_object(config, write), &bare, managed, &before).map_err(|reason| {
            ApplyError::Internal(format!("failed to create manager for existing fields: {reason}"))
        })?
    } else {
        managed
    };
    merged(live, config, managed, force, write)
}

fn merged(
    live: &Value,
    config: &Value,
    managed: Managed,
    force: bool,
    write: &Write<'_>,
) -> Result<(Applied, Managed), ApplyError> {
    let typing = typing_of(write).map_err(ApplyError::Internal)?;
    fits(write, config, Duplicates::Refused, "patch")?;
    fits(write, live, Duplicates::Allowed, "live")?;
    let mut managed = under_todays_schema(write.typings, managed);
    let merged = merge(typing.view(), live, config)
        .map_err(|problems| ApplyError::Internal(format!("failed to merge config: {problems}")))?;
    let mut writer = ManagedEntry::of(write, Operation::Apply);
    let identity = writer.identity();
    writer.fields = collect(typing.view(), config).without_trees(write.reset);
    writer.time = managed.get(&identity).and_then(|last| last.time);
    let last = managed.insert(identity.clone(), writer);
    let mut object = prune(write.typings, merged, &managed, last.as_ref());
    let (mut managed, _) = take_changes(write, live, &object, managed, Some(&identity), force)?;
    let changed = !equal(live, &object);
    if !changed {
        object = live.clone();
    }
    if let Some(writer) = managed.get_mut(&identity) {
        writer.fields = writer.fields.difference(&NEVER_OWNED);
        if changed {
            writer.time = Some(write.now);
        }
    }
    managed.retain(|_, entry| !entry.fields.is_empty());
    Ok((Applied { object, changed }, managed))
}

fn fits(write: &Write<'_>, object: &Value, duplicates: Duplicates, which: &str) -> Result<(), ApplyError> {
    let typing = typing_of(write).map_err(ApplyError::Internal)?;
    let problems = check(typing.view(), object, duplicates);
    if problems.is_empty() {
        return Ok(());
    }
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    Err(ApplyError::Internal(format!(
        "failed to create typed {which} object ({}/{}; {}): {problems}",
        text("namespace"),
        text("name"),
        group_version_kind(object)
    )))
}
