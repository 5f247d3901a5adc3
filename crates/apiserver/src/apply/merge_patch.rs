//! Merge patches (RFC 7386), with the server's departures from it.

use serde_json::{Map, Value};

use super::patch_error::PatchError;

/// Lays the patch over the document; null removes.
pub fn merge_patch(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    let Value::Object(changes) = patch else {
        return Err(PatchError::BadRequest(match patch {
            Value::Null => "Invalid JSON Patch".into(),
            other => {
                let kind = crate::go::kind_of(other);
                format!(
                    "error decoding patch: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
                )
            }
        }));
    };
    let mut merged = document.as_object().cloned().unwrap_or_default();
    merge(&mut merged, changes);
    Ok(Value::Object(merged))
}

fn merge(document: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        match (document.get_mut(name), change) {
            (_, Value::Null) => {
                document.remove(name);
            }
            (Some(Value::Object(inner)), Value::Object(change)) => merge(inner, change),
            // What takes the place of an object that is not one is taken as it is.
            (Some(old @ Value::Object(_)), change) => *old = change.clone(),
            (_, change) => {
                let mut change = change.clone();
                without_nulls(&mut change);
                document.insert(name.clone(), change);
            }
        }
    }
}

/// Removes the fields that are null, inside of lists too, where the standard would keep them.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_examples_of_the_standard_hold_for_objects() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (document, patch, expected) in cases {
            assert_eq!(merge_patch(&document, &patch), Ok(expected));
        }
    }

    #[test]
    fn nulls_in_lists_go_unless_the_list_replaces_an_object() {
        let patch = json!({"a": [{"x": null, "y": 1}, null]});
        assert_eq!(merge_patch(&json!({"a": [1]}), &patch), Ok(json!({"a": [{"y": 1}, null]})));
        assert_eq!(merge_patch(&json!({"a": {}}), &patch), Ok(patch));
    }

    #[test]
    fn only_an_object_is_a_patch() {
        for patch in [json!(null), json!([]), json!("x")] {
            assert!(matches!(merge_patch(&json!({}), &patch), Err(PatchError::BadRequest(_))));
        }
    }
}
