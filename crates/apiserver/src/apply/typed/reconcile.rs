//! Ownership that was recorded under an older schema: what has since become one value is owned as one value.

use crate::apply::fields::{FieldSet, Path, PathElement};
use crate::apply::typing::{Form, View};

/// The set as it would have been recorded under this type.
pub(crate) fn reconcile(view: View<'_>, set: FieldSet) -> FieldSet {
    let mut whole = FieldSet::new();
    walk(view, &set, false, &mut Path::new(), &mut whole);
    if whole.is_empty() { set } else { set.without_trees(&whole).union(&whole) }
}

/// Collects the fields that are now owned as a whole. `leaf` says that nothing below this field is owned.
fn walk(view: View<'_>, set: &FieldSet, leaf: bool, path: &mut Path, whole: &mut FieldSet) {
    match view.form() {
        None | Some(Form::Scalar(_)) => {}
        Some(Form::Map(map)) if map.is_unknown() => {}
        Some(Form::Map(map)) if !leaf && map.atomic => {
            if !set.is_empty() {
                whole.insert(path);
            }
        }
        Some(Form::List(list)) if !leaf && list.atomic() => whole.insert(path),
        Some(form) => {
            for (element, member, children) in set.steps() {
                let below = match (form, element) {
                    (Form::List(list), _) => list.element(),
                    (Form::Map(map), PathElement::Field(name)) if map.declares(name) || map.open() => {
                        map.field(name)
                    }
                    _ => continue,
                };
                path.push(element.clone());
                walk(below, children, member && children.is_empty(), path, whole);
                path.pop();
            }
        }
    }
}
