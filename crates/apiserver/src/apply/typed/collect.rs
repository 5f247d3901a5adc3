//! The fields that a value has: what somebody who applies it owns.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::apply::fields::{FieldSet, Path, PathElement};
use crate::apply::typing::{Form, ListView, MapView, View};

/// Every leaf and every item of the value. The value has been checked against the type.
pub(crate) fn collect(view: View<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    walk(view, value, &mut Path::new(), &mut set);
    set
}

fn walk(view: View<'_>, value: &Value, path: &mut Path, set: &mut FieldSet) {
    match view.narrowed(Some(value)).form() {
        None => {}
        Some(Form::Scalar(_)) => set.insert(path),
        Some(Form::Map(map)) if map.atomic => set.insert(path),
        Some(Form::Map(map)) => fields(map, value, path, set),
        Some(Form::List(list)) if list.atomic() => set.insert(path),
        Some(Form::List(list)) => items(list, value, path, set),
    }
}

fn fields(map: MapView<'_>, value: &Value, path: &mut Path, set: &mut FieldSet) {
    for (name, value) in value.as_object().into_iter().flatten() {
        path.push(PathElement::field(name));
        walk(map.field(name), value, path, set);
        let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        if empty || !map.declares(name) {
            set.insert(path);
        }
        path.pop();
    }
}

/// Items that are there more than once are owned as one, without what is in them.
fn items(list: ListView<'_>, value: &Value, path: &mut Path, set: &mut FieldSet) {
    let items: Vec<_> = value.as_array().into_iter().flatten().collect();
    let found: Vec<_> = items
        .into_iter()
        .filter_map(|item| list.identify(item).ok().map(|element| (element, item)))
        .collect();
    let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    for (element, _) in &found {
        if !seen.insert(element) {
            repeated.insert(element);
        }
    }
    for (element, item) in &found {
        path.push(element.clone());
        if !repeated.contains(element) {
            walk(list.element(), item, path, set);
        }
        set.insert(path);
        path.pop();
    }
}
