//! Parents that a set of fields implies: who owns `spec.a.b` keeps `spec` and `spec.a` alive.

use crate::apply::fields::{FieldSet, PathElement};
use crate::apply::typing::View;

/// The set with every field that the schema names on the way to one of its fields. Keys of maps and items of lists
/// are not implied: they are owned by themselves or not at all.
pub(crate) fn with_named(view: Option<View<'_>>, set: &FieldSet) -> FieldSet {
    let mut all = FieldSet::new();
    for (element, member, children) in set.steps() {
        let map = view.and_then(|view| view.map);
        let list = view.and_then(|view| view.list);
        let (named, below) = match (element, map, list) {
            (PathElement::Field(name), Some(map), _) => (map.declares(name), Some(map.field(name))),
            (PathElement::Key(_), _, Some(list)) => (false, Some(list.element())),
            _ => (false, None),
        };
        let implied = named && !children.is_empty();
        all.put(element.clone(), member || implied, with_named(below, children));
    }
    all
}
