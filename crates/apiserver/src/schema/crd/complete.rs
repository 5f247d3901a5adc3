//! Whatever is bounded inside `allOf` and its like must be described outside.

use super::super::field_error::FieldError;
use super::super::node::Node;
use super::super::path::Path;

/// Compares the bounds of `node` with the structure that they are about.
pub(super) fn bounds(
    node: &Node,
    structure: Option<&Node>,
    path: &Path,
    bounds_path: &Path,
    errors: &mut Vec<FieldError>,
) {
    if let Some(not) = node.not.as_deref() {
        nested(not, structure, path, &bounds_path.child("not"), errors);
    }
    for (name, branches) in [("allOf", &node.all_of), ("anyOf", &node.any_of), ("oneOf", &node.one_of)] {
        for (index, branch) in branches.iter().enumerate() {
            nested(branch, structure, path, &bounds_path.child(name).index(index), errors);
        }
    }
}

fn nested(
    node: &Node,
    structure: Option<&Node>,
    path: &Path,
    bounds_path: &Path,
    errors: &mut Vec<FieldError>,
) {
    let Some(structure) = structure else {
        return errors.push(FieldError::required(path, format!("because it is defined in {bounds_path}")));
    };
    bounds(node, Some(structure), path, bounds_path, errors);
    if let Some(items) = node.items.as_deref() {
        let inside = structure.items.as_deref();
        nested(items, inside, &path.child("items"), &bounds_path.child("items"), errors);
    }
    for (name, property) in &node.properties {
        let at = path.child("properties").key(name);
        let bounds_at = bounds_path.child("properties").key(name);
        nested(property, structure.properties.get(name), &at, &bounds_at, errors);
    }
}
