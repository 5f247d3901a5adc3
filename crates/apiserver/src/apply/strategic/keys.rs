//! Which fields of a kind are merged, and by which key. Schemas say it with `x-kubernetes-patch-strategy` and
//! `x-kubernetes-patch-merge-key`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::apply::typing::reference;

/// How deep a kind is read. Definitions may refer to themselves; what is merged by key lies far above this.
const MAX_DEPTH: usize = 12;

/// How one field is patched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMerge {
    /// Whether a list is merged rather than replaced.
    pub merge: bool,
    /// Whether an object is replaced rather than merged.
    pub replace: bool,
    /// The field by which the items of a merged list are told apart; none if they are scalars.
    pub key: Option<String>,
}

impl FieldMerge {
    /// Reads a strategy as schemas write it: `merge`, `replace`, `retainKeys`, or two of them with a comma.
    pub fn new(strategy: &str, key: Option<&str>) -> Self {
        let has = |wanted| strategy.split(',').any(|one| one == wanted);
        Self { merge: has("merge"), replace: has("replace"), key: key.map(Into::into) }
    }
}

/// The fields of one kind that are not simply replaced. A path is the names of the fields with dots between them,
/// and goes through lists: `spec.template.spec.containers.ports`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeKeys(BTreeMap<String, FieldMerge>);

impl MergeKeys {
    /// Reads the fields of a kind from the definitions that a server publishes, which may refer to each other.
    pub fn of_definition(name: &str, definitions: &Map<String, Value>) -> Self {
        let mut fields = BTreeMap::new();
        if let Some(schema) = definitions.get(name) {
            read(schema, definitions, "", 0, &mut fields);
        }
        Self(fields)
    }

    /// The fields with their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldMerge)> {
        self.0.iter().map(|(path, field)| (path.as_str(), field))
    }

    /// How the field at this path is patched.
    pub(super) fn at(&self, path: &str) -> FieldMerge {
        self.0.get(path).cloned().unwrap_or_default()
    }
}

fn read(
    schema: &Value,
    definitions: &Map<String, Value>,
    path: &str,
    depth: usize,
    fields: &mut BTreeMap<String, FieldMerge>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let referred = reference(schema).and_then(|name| definitions.get(name));
    let schema = referred.unwrap_or(schema);
    if let Some(items) = schema.get("items") {
        read(items, definitions, path, depth + 1, fields);
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let text = |key: &str| property.get(key).and_then(Value::as_str);
        if let Some(strategy) = text("x-kubernetes-patch-strategy") {
            let field = FieldMerge::new(strategy, text("x-kubernetes-patch-merge-key"));
            fields.insert(path.clone(), field);
        }
        read(property, definitions, &path, depth + 1, fields);
    }
}

impl<P: Into<String>> FromIterator<(P, FieldMerge)> for MergeKeys {
    fn from_iter<T: IntoIterator<Item = (P, FieldMerge)>>(fields: T) -> Self {
        Self(fields.into_iter().map(|(path, field)| (path.into(), field)).collect())
    }
}
