//! The core of every write: what changed leaves those who owned it.

use serde_json::Value;

use super::conflict::Conflicts;
use super::entries::Managed;
use super::{Typings, Write};
use crate::apply::fields::FieldSet;
use crate::apply::typed::{Comparison, Problems, compare, compare_fitting, reconcile};
use crate::apply::typing::Typing;

/// Why ownership could not be worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Conflicts(Conflicts),
    Broken(String),
}

/// The types of the request's version.
pub(super) fn typing_of<'a>(write: &Write<'a>) -> Result<&'a Typing, String> {
    write
        .typings
        .get(write.api_version)
        .ok_or_else(|| format!("no corresponding type for {}", write.api_version))
}

/// Forgets what is owned in versions that are gone, and reads the rest under today's schema.
pub(super) fn under_todays_schema(typings: &Typings, managed: Managed) -> Managed {
    let known = managed.into_iter().filter_map(|(identity, mut entry)| {
        let typing = typings.get(&entry.api_version)?;
        entry.fields = reconcile(typing.view(), std::mem::take(&mut entry.fields));
        Some((identity, entry))
    });
    known.collect()
}

/// Takes what changed from everybody but the writer. Without force, what somebody else owns must not change. The live
/// object must have been found to fit the type of the request's version.
pub(super) fn take_changes(
    write: &Write<'_>,
    live: &Value,
    new: &Value,
    mut managed: Managed,
    writer: Option<&str>,
    force: bool,
) -> Result<(Managed, Comparison), Refused> {
    let changes_of = |compared: Result<Comparison, Problems>| {
        let changes =
            compared.map_err(|problems| Refused::Broken(format!("failed to compare objects: {problems}")))?;
        Ok::<_, Refused>(if write.reset.is_empty() { changes } else { changes.without(write.reset) })
    };
    let typing = typing_of(write).map_err(Refused::Broken)?;
    let changes = changes_of(compare_fitting(typing.view(), live, new))?;
    let given = changes.modified.union(&changes.added);
    let mut conflicts = Conflicts::default();
    let mut taken: Vec<(String, FieldSet)> = Vec::new();
    for (identity, entry) in managed.iter().filter(|(identity, _)| Some(identity.as_str()) != writer) {
        let contested = if entry.api_version == write.api_version {
            let contested = entry.fields.intersection(&given);
            taken.push((identity.clone(), contested.union(&changes.removed)));
            contested
        } else {
            let Some(typing) = write.typings.get(&entry.api_version) else { continue };
            let changes = changes_of(compare(typing.view(), live, new))?;
            let contested = entry.fields.intersection(&changes.modified.union(&changes.added));
            taken.push((identity.clone(), contested.union(&changes.removed)));
            contested
        };
        conflicts.add(entry, &contested);
    }
    if !force && !conflicts.0.is_empty() {
        return Err(Refused::Conflicts(conflicts));
    }
    for (identity, fields) in taken {
        if let Some(entry) = managed.get_mut(&identity).filter(|_| !fields.is_empty()) {
            entry.fields = entry.fields.difference(&fields);
        }
    }
    managed.retain(|_, entry| !entry.fields.is_empty());
    Ok((managed, changes))
}
