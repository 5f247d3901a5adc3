//! Reading status without failing: a part that cannot be read is left out, and the rest is kept.
//!
//! One object that does not parse would fail the LIST of all objects of its kind, so a status that a person
//! garbled, or that another version wrote, must not do that. The schema already refuses most of it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a list item by item and leaves out those that do not parse.
pub(crate) fn items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Array(values) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    Ok(values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect())
}

/// Reads a value, or its default where it does not parse.
pub(crate) fn value<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}
