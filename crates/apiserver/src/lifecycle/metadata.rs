//! The fields of `metadata` that the server keeps, and how it reads them.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A time as metadata has it: to the second, in UTC.
pub fn time_text(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The text at `metadata.<field>`; "" when it is not there.
pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    self::field(object, field).and_then(Value::as_str).unwrap_or("")
}

/// `metadata.<name>`.
pub fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(name)
}

/// `metadata.generation`; 0 when it is not there.
pub fn generation(object: &Value) -> i64 {
    field(object, "generation").and_then(Value::as_i64).unwrap_or(0)
}

/// The finalizers.
pub fn finalizers(object: &Value) -> Vec<&str> {
    let list = field(object, "finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `metadata.deletionGracePeriodSeconds`.
pub fn grace(object: &Value) -> Option<i64> {
    field(object, "deletionGracePeriodSeconds").and_then(Value::as_i64)
}

/// Whether its deletion has begun.
pub fn is_ending(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// `metadata`, made where it is not there.
pub fn fields(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// Sets a field of `metadata`, or takes it away.
pub fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(fields) = fields(object) else { return };
    match value {
        Some(value) => drop(fields.insert(field.to_owned(), value)),
        None => drop(fields.remove(field)),
    }
}

/// Makes these fields of `metadata` what they are in `from`.
pub fn keep(object: &mut Value, from: &Value, kept: &[&str]) {
    for field in kept {
        let value = self::field(from, field).cloned();
        set(object, field, value);
    }
}
