//! What somebody no longer applies goes away, unless somebody else owns it too.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Typings;
use super::entries::{Managed, ManagedEntry};
use crate::apply::fields::FieldSet;
use crate::apply::typed::{collect, remove, with_named};
use crate::apply::typing::{Typing, View};

/// The merged object without what the writer applied last time and nobody owns now.
pub(super) fn prune(
    typings: &Typings,
    merged: Value,
    managed: &Managed,
    last: Option<&ManagedEntry>,
) -> Value {
    let Some(last) = last.filter(|last| !last.fields.is_empty()) else { return merged };
    let Some(typing) = typings.get(&last.api_version) else { return merged };
    let view = typing.view();
    let bare = remove(view, &merged, &with_named(Some(view), &last.fields));
    let owned = add_back_owned(typings, &merged, bare, &last.api_version, managed);
    remove_dangling(view, &merged, &owned, &last.fields)
}

/// Puts back what anybody owns, the versions one after the other, that of the last apply first.
fn add_back_owned(typings: &Typings, merged: &Value, bare: Value, first: &str, managed: &Managed) -> Value {
    let mut by_version: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for entry in managed.values() {
        let fields = by_version.entry(&entry.api_version).or_default();
        *fields = fields.union(&entry.fields);
    }
    let mut kept = bare;
    let at_first = by_version.remove(first).map(|fields| (first, fields));
    for (version, fields) in at_first.into_iter().chain(by_version) {
        if let Some(typing) = typings.get(version) {
            kept = add_back(typing, merged, &kept, &fields);
        }
    }
    kept
}

fn add_back(typing: &Typing, merged: &Value, kept: &Value, owned: &FieldSet) -> Value {
    let named = |set: &FieldSet| with_named(Some(typing.view()), set);
    let all = named(&collect(typing.view(), merged));
    let keep = named(&collect(typing.view(), kept)).union(&named(owned));
    remove(typing.view(), merged, &all.difference(&keep))
}

/// Removes only what the last apply had: what is gone merely because its parent was taken out comes back.
fn remove_dangling(view: View<'_>, merged: &Value, kept: &Value, last: &FieldSet) -> Value {
    let named = |set: &FieldSet| with_named(Some(view), set);
    let gone = named(&collect(view, merged)).difference(&named(&collect(view, kept)));
    remove(view, merged, &gone.intersection(&named(last)))
}
