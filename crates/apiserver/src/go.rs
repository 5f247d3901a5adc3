//! How Go prints values, for the messages that quote them.

use serde_json::Value;

/// A value as `%v` prints it.
pub(crate) fn printed(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(printed).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", printed(value)));
            format!("map[{}]", joined(fields.collect()))
        }
        other => other.to_string(),
    }
}

/// The type of a value as `%T` prints it.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The fields of metadata in the order of their type, in which Go writes them.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const MANAGED: [&str; 7] =
    ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];

/// Metadata as Go writes it.
pub(crate) fn metadata(metadata: &Value) -> String {
    ordered(metadata, &METADATA, |name, value| match name {
        "managedFields" => listed(value, &MANAGED),
        "ownerReferences" => listed(value, &OWNER),
        _ => value.to_string(),
    })
}

fn listed(items: &Value, names: &[&str]) -> String {
    let items = items.as_array().into_iter().flatten();
    let items: Vec<String> = items.map(|item| ordered(item, names, |_, value| value.to_string())).collect();
    format!("[{}]", items.join(","))
}

fn ordered(object: &Value, names: &[&str], write: impl Fn(&str, &Value) -> String) -> String {
    let fields = names.iter().filter_map(|name| Some((name, object.get(name)?)));
    let fields: Vec<String> =
        fields.map(|(name, value)| format!("\"{name}\":{}", write(name, value))).collect();
    format!("{{{}}}", fields.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_has_the_order_of_its_type() {
        let entry = json!({"apiVersion": "v1", "manager": "m"});
        let text = metadata(&json!({"labels": {"a": "b"}, "name": "x", "managedFields": [entry]}));
        let expected =
            r#"{"name":"x","labels":{"a":"b"},"managedFields":[{"manager":"m","apiVersion":"v1"}]}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn maps_and_lists_are_printed_as_go_does() {
        assert_eq!(printed(&json!({"b": [1, "x", null], "a": true})), "map[a:true b:[1 x <nil>]]");
        assert_eq!(type_of(&json!(1.5)), "float64");
    }
}
