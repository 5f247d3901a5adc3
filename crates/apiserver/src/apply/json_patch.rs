//! JSON patches (RFC 6902), with the server's departures from it: negative indexes count from the end, `replace`
//! may add a field, and what is missing tests equal to null.

use serde_json::{Map, Value};

use super::patch_error::PatchError;

/// How many operations a patch may have; the server's number.
const MAX_OPERATIONS: usize = 10_000;

/// How many bytes the copies of a patch may add; the server's number. Copies of copies would else double without end.
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

type Outcome<T> = Result<T, String>;

/// Applies the operations one after the other.
pub fn json_patch(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    let operations = operations(patch)
        .map_err(|reason| PatchError::BadRequest(format!("error decoding patch: {reason}")))?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooLarge(format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut document = document.clone();
    let mut copied = 0;
    for operation in operations {
        run(&mut document, &operation, &mut copied).map_err(PatchError::DoesNotApply)?;
    }
    Ok(document)
}

fn operations(patch: &Value) -> Outcome<Vec<Map<String, Value>>> {
    let list = match patch {
        Value::Array(list) => list.as_slice(),
        Value::Null => &[],
        other => {
            let kind = crate::go::kind_of(other);
            return Err(format!(
                "json: cannot unmarshal {kind} into Go value of type []handlers.jsonPatchOp"
            ));
        }
    };
    let operation = |value: &Value| match value {
        Value::Object(operation) => {
            for name in ["op", "path", "from"] {
                if let Some(wrong) =
                    operation.get(name).filter(|value| !value.is_string() && !value.is_null())
                {
                    let kind = crate::go::kind_of(wrong);
                    return Err(format!(
                        "json: cannot unmarshal {kind} into Go struct field jsonPatchOp.{name} of type string"
                    ));
                }
            }
            Ok(operation.clone())
        }
        Value::Null => Ok(Map::new()),
        other => {
            let kind = crate::go::kind_of(other);
            Err(format!("json: cannot unmarshal {kind} into Go value of type handlers.jsonPatchOp"))
        }
    };
    list.iter().map(operation).collect()
}

fn run(document: &mut Value, operation: &Map<String, Value>, copied: &mut usize) -> Outcome<()> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text("op").unwrap_or_else(|| "unknown".into());
    let (path, from) = (text("path"), text("from"));
    let value = operation.get("value").cloned().unwrap_or(Value::Null);
    let no_path = |short: bool| {
        let detail = if short { "" } else { "operation missing path field: " };
        format!("{kind} operation failed to decode path: {detail}missing value")
    };
    let no_from =
        || format!("{kind} operation failed to decode from: operation, missing from field: missing value");
    match kind.as_str() {
        "add" => add(document, &path.ok_or_else(|| no_path(true))?, value),
        "remove" => remove(document, &path.ok_or_else(|| no_path(true))?),
        "replace" => replace(document, &path.ok_or_else(|| no_path(false))?, value),
        "test" => test(document, &path.ok_or_else(|| no_path(false))?, &value),
        "move" => relocate(document, &from.ok_or_else(no_from)?, path, || no_path(false)),
        "copy" => copy(document, &from.ok_or_else(no_from)?, &path.ok_or_else(|| no_path(true))?, copied),
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Outcome<()> {
    let Some((parent, key)) = locate(document, path) else {
        return Err(format!("add operation does not apply: doc is missing path: \"{path}\": missing value"));
    };
    insert(parent, &key, value).map_err(|reason| format!("error in add for path: '{path}': {reason}"))
}

fn remove(document: &mut Value, path: &str) -> Outcome<()> {
    let Some((parent, key)) = locate(document, path) else {
        return Err(format!(
            "remove operation does not apply: doc is missing path: \"{path}\": missing value"
        ));
    };
    take(parent, &key).map(drop).map_err(|reason| format!("error in remove for path: '{path}': {reason}"))
}

fn replace(document: &mut Value, path: &str, value: Value) -> Outcome<()> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array: %!w(<nil>)".into());
        }
        *document = value;
        return Ok(());
    }
    let Some((parent, key)) = locate(document, path) else {
        return Err(format!("replace operation does not apply: doc is missing path: {path}: missing value"));
    };
    if get(parent, &key).is_err() {
        return Err(format!("replace operation does not apply: doc is missing key: {path}: missing value"));
    }
    match parent {
        Value::Array(items) => {
            let index = index(&key, items.len(), items.len())?;
            items[index] = value;
        }
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        _ => {}
    }
    Ok(())
}

fn test(document: &mut Value, path: &str, value: &Value) -> Outcome<()> {
    let found = if path.is_empty() {
        Some(&*document)
    } else {
        let Some((parent, key)) = locate(document, path) else {
            return Err(format!("test operation does not apply: is missing path: {path}: missing value"));
        };
        get(parent, &key).map_err(|reason| format!("error in test for path: '{path}': {reason}"))?
    };
    if found.unwrap_or(&Value::Null) == value {
        return Ok(());
    }
    Err(format!("testing value {path} failed: test failed"))
}

fn relocate(
    document: &mut Value,
    from: &str,
    path: Option<String>,
    no_path: impl Fn() -> String,
) -> Outcome<()> {
    let Some((parent, key)) = locate(document, from) else {
        return Err(format!(
            "move operation does not apply: doc is missing from path: {from}: missing value"
        ));
    };
    let failed = |reason: String| format!("error in move for path: '{key}': {reason}");
    get(parent, &key).map_err(failed)?;
    let value = take(parent, &key).map_err(failed)?;
    let path = path.ok_or_else(no_path)?;
    let Some((parent, key)) = locate(document, &path) else {
        return Err(format!(
            "move operation does not apply: doc is missing destination path: {path}: missing value"
        ));
    };
    insert(parent, &key, value).map_err(|reason| format!("error in move for path: '{path}': {reason}"))
}

fn copy(document: &mut Value, from: &str, path: &str, copied: &mut usize) -> Outcome<()> {
    let Some((parent, key)) = locate(document, from) else {
        return Err(format!(
            "copy operation does not apply: doc is missing from path: {from}: missing value"
        ));
    };
    let found = get(parent, &key).map_err(|reason| format!("error in copy for from: '{from}': {reason}"))?;
    let value = found.cloned().unwrap_or(Value::Null);
    let Some((parent, key)) = locate(document, path) else {
        return Err(format!(
            "copy operation does not apply: doc is missing destination path: {path}: missing value"
        ));
    };
    *copied += value.to_string().len();
    if *copied > MAX_COPIED_BYTES {
        return Err(format!(
            "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit \
             {MAX_COPIED_BYTES}"
        ));
    }
    insert(parent, &key, value).map_err(|reason| format!("error while adding value during copy: {reason}"))
}

/// The container that holds the last step of a path, and that step. What comes before the first `/` is ignored.
fn locate<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let mut steps: Vec<_> = path.split('/').skip(1).map(unescape).collect();
    let last = steps.pop()?;
    let mut here = document;
    for step in steps {
        here = match here {
            Value::Object(fields) => fields.get_mut(&step)?,
            Value::Array(items) => {
                let index = index(&step, items.len(), items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (here.is_object() || here.is_array()).then_some((here, last))
}

fn unescape(step: &str) -> String {
    // From the left and each only once, so that `~01` is `~1`.
    step.split("~1").map(|part| part.replace("~0", "~")).collect::<Vec<_>>().join("/")
}

/// The place that an index means in a list of this many; the bound is the first index that is out of it.
fn index(key: &str, len: usize, bound: usize) -> Outcome<usize> {
    let given: i64 = key
        .parse()
        .map_err(|_| format!("strconv.Atoi: parsing {}: invalid syntax", super::literal::quoted(key)))?;
    let wrong = || format!("Unable to access invalid index: {given}: invalid index referenced");
    let size = i64::try_from(len).map_err(|_| wrong())?;
    let at = usize::try_from(if given < 0 { given + size } else { given }).map_err(|_| wrong())?;
    if at < bound { Ok(at) } else { Err(wrong()) }
}

fn get<'d>(parent: &'d Value, key: &str) -> Outcome<Option<&'d Value>> {
    match parent {
        Value::Array(items) => index(key, items.len(), items.len()).map(|index| items.get(index)),
        Value::Object(fields) => Ok(fields.get(key)),
        _ => Ok(None),
    }
}

fn insert(parent: &mut Value, key: &str, value: Value) -> Outcome<()> {
    match parent {
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let size = items.len() + 1;
            let wrapped = |reason: String| {
                let malformed = reason.starts_with("strconv");
                let what = format!("value was not a proper array index: '{key}': {reason}");
                if malformed { what } else { reason }
            };
            items.insert(index(key, size, size).map_err(wrapped)?, value);
        }
        Value::Object(fields) => {
            fields.insert(key.into(), value);
        }
        _ => {}
    }
    Ok(())
}

fn take(parent: &mut Value, key: &str) -> Outcome<Value> {
    match parent {
        Value::Array(items) => index(key, items.len(), items.len()).map(|index| items.remove(index)),
        Value::Object(fields) => fields
            .remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
        _ => Ok(Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(document: &Value, patch: &Value) -> Result<Value, String> {
        json_patch(document, patch).map_err(|error| error.to_string())
    }

    #[test]
    fn operations_do_what_the_standard_says() {
        let cases = [
            (
                json!({"a": [1, 2]}),
                json!([{"op": "add", "path": "/a/1", "value": 9}]),
                json!({"a": [1, 9, 2]}),
            ),
            (json!({"a": [1]}), json!([{"op": "add", "path": "/a/-", "value": 9}]), json!({"a": [1, 9]})),
            (json!({"a": 1, "b": 2}), json!([{"op": "remove", "path": "/a"}]), json!({"b": 2})),
            (
                json!({"a": [1]}),
                json!([{"op": "replace", "path": "/a/0", "value": null}]),
                json!({"a": [null]}),
            ),
            (json!({"a": 1}), json!([{"op": "move", "from": "/a", "path": "/b"}]), json!({"b": 1})),
            (json!({"a": 1}), json!([{"op": "copy", "from": "/a", "path": "/b"}]), json!({"a": 1, "b": 1})),
            (json!({"a/b": {"~1": 1}}), json!([{"op": "remove", "path": "/a~1b/~01"}]), json!({"a/b": {}})),
            (json!({"a": 1}), json!([{"op": "test", "path": "/a", "value": 1}]), json!({"a": 1})),
            (json!({"a": 1}), json!([{"op": "replace", "path": "", "value": {"b": 2}}]), json!({"b": 2})),
        ];
        for (document, patch, expected) in cases {
            assert_eq!(patched(&document, &patch), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn the_server_departs_from_the_standard() {
        let cases = [
            (json!({"a": [1, 2]}), json!([{"op": "remove", "path": "/a/-1"}]), json!({"a": [1]})),
            (
                json!({"a": [1, 2]}),
                json!([{"op": "add", "path": "/a/-1", "value": 3}]),
                json!({"a": [1, 2, 3]}),
            ),
            (json!({}), json!([{"op": "replace", "path": "/a", "value": 1}]), json!({"a": 1})),
            (json!({}), json!([{"op": "test", "path": "/a", "value": null}]), json!({})),
            (json!({}), json!([{"op": "copy", "from": "/a", "path": "/b"}]), json!({"b": null})),
            (json!({}), json!([{"op": "add", "path": "ignored/a", "value": 1}]), json!({"a": 1})),
            (json!({}), json!(null), json!({})),
        ];
        for (document, patch, expected) in cases {
            assert_eq!(patched(&document, &patch), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn refusals_have_the_servers_words() {
        let cases = [
            (json!([{"op": "test", "path": "/a", "value": 2}]), "testing value /a failed: test failed"),
            (
                json!([{"op": "add", "path": "/x/y", "value": 2}]),
                "add operation does not apply: doc is missing path: \"/x/y\": missing value",
            ),
            (
                json!([{"op": "remove", "path": "/x"}]),
                "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
            ),
            (
                json!([{"op": "add", "path": "/l/9", "value": 1}]),
                "error in add for path: '/l/9': Unable to access invalid index: 9: invalid index referenced",
            ),
            (
                json!([{"op": "add", "path": "/l/x", "value": 1}]),
                "error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            (json!([{"op": "jump", "path": "/a"}]), "Unexpected kind: jump"),
            (json!([{"op": "add"}]), "add operation failed to decode path: missing value"),
        ];
        for (patch, message) in cases {
            let refused = json_patch(&json!({"a": 1, "l": []}), &patch);
            assert_eq!(refused, Err(PatchError::DoesNotApply(message.into())));
        }
        assert!(matches!(json_patch(&json!({}), &json!({})), Err(PatchError::BadRequest(_))));
        assert!(matches!(json_patch(&json!({}), &json!([1])), Err(PatchError::BadRequest(_))));
        assert!(matches!(json_patch(&json!({}), &json!([{"op": 1}])), Err(PatchError::BadRequest(_))));
    }

    #[test]
    fn operations_are_counted_before_any_runs() {
        let operation = json!({"op": "add", "path": "/a", "value": 1});
        let patch = Value::Array(vec![operation; MAX_OPERATIONS + 1]);
        assert!(matches!(json_patch(&json!({}), &patch), Err(PatchError::TooLarge(_))));
    }

    #[test]
    fn copies_of_copies_end() {
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch: Vec<_> = (0..100).map(|_| double.clone()).collect();
        let nested = json!({"a": ["0123456789"]});
        let refused = json_patch(&nested, &Value::Array(patch)).unwrap_err();
        assert!(refused.to_string().contains("exceeding the limit"), "{refused}");
    }
}
