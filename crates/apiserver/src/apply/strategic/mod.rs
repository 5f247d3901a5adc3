//! Strategic merge patches, for built-in kinds: lists merge by key, and directives in the patch say the rest.

mod directives;
mod keys;
mod lists;
mod order;

pub use keys::{FieldMerge, MergeKeys};

use serde_json::{Map, Value};

use super::literal::go_print;
use super::patch_error::PatchError;
use directives::{
    DELETE_FROM_LIST, Marker, discard_nulls, marker, retain_keys, set_element_order, without_directives,
};
use lists::merge_lists;

type Object = Map<String, Value>;

/// Lays the patch over the object. Custom resources have no strategic merge patch: 415 is the answer for them.
pub fn strategic_merge_patch(object: &Value, patch: &Value, keys: &MergeKeys) -> Result<Value, PatchError> {
    let Value::Object(patch) = patch else {
        let kind = crate::go::kind_of(patch);
        let message =
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}");
        return Err(PatchError::BadRequest(message));
    };
    let object = object.as_object().cloned().unwrap_or_default();
    Rules { keys }.objects(object, patch.clone(), "").map(Value::Object)
}

struct Rules<'k> {
    keys: &'k MergeKeys,
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.into() } else { format!("{at}.{name}") }
}

impl Rules<'_> {
    /// Merges two objects at a path.
    fn objects(&self, mut original: Object, mut patch: Object, at: &str) -> Result<Object, PatchError> {
        match marker(&patch) {
            None => {}
            Some(Marker::Replace) => {
                patch.remove(directives::MARKER);
                return Ok(patch);
            }
            Some(Marker::Delete) => return Ok(Object::new()),
            Some(Marker::Merge | Marker::Unknown) => {
                let (word, map) = (go_print(&patch[directives::MARKER]), go_print(&Value::Object(patch)));
                return Err(PatchError::Internal(format!("unknown patch type: {word} in map: {map}")));
            }
        }
        retain_keys(&mut original, &mut patch)?;
        set_element_order(self, &mut original, &mut patch, at)?;
        for (name, value) in patch {
            self.field(&mut original, &name, value, at)?;
        }
        Ok(original)
    }

    fn field(&self, original: &mut Object, name: &str, mut value: Value, at: &str) -> Result<(), PatchError> {
        let (name, deletes) = match name.strip_prefix(DELETE_FROM_LIST) {
            None => (name, false),
            Some(rest) => match rest.strip_prefix('/') {
                Some(name) => (name, true),
                None => return Err(PatchError::BadRequest("invalid patch format of primitive list".into())),
            },
        };
        if value.is_null() {
            original.remove(name);
            return Ok(());
        }
        let at = below(at, name);
        let merged = match (original.remove(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let replaces = self.keys.at(&at).replace;
                Some(Value::Object(if replaces { new } else { self.objects(old, new, &at)? }))
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                Some(Value::Array(self.lists(old, new, &at, deletes)?))
            }
            // There is no list to delete from.
            (old, _) if deletes => old,
            (_, other) => {
                value = other;
                discard_nulls(&mut value);
                without_directives(value)
            }
        };
        original.extend(merged.map(|merged| (name.to_owned(), merged)));
        Ok(())
    }

    /// Merges two lists at a path, if the field is merged at all.
    fn lists(
        &self,
        old: Vec<Value>,
        new: Vec<Value>,
        at: &str,
        deletes: bool,
    ) -> Result<Vec<Value>, PatchError> {
        let field = self.keys.at(at);
        if !field.merge && !deletes {
            return Ok(new);
        }
        merge_lists(self, old, new, field.key.as_deref(), at, deletes)
    }
}

#[cfg(test)]
mod tests;
