//! `metadata.managedFields`: read, checked, sorted and written as the server does.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Write;
use crate::apply::fields::FieldSet;
use crate::apply::literal::quoted;

/// How somebody came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// The word in `managedFields`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// What one writer owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedEntry {
    /// The name of the writer.
    pub manager: String,
    /// How it writes.
    pub operation: Operation,
    /// The version in which it wrote last.
    pub api_version: String,
    /// The subresource that it writes to; empty for the object itself.
    pub subresource: String,
    /// When what it owns last changed by its own doing.
    pub time: Option<Timestamp>,
    /// What it owns.
    pub fields: FieldSet,
}

impl ManagedEntry {
    /// The entry of the one who makes this write, owning nothing yet.
    pub(super) fn of(write: &Write<'_>, operation: Operation) -> Self {
        let manager = if write.manager.is_empty() { "unknown" } else { write.manager };
        Self {
            manager: manager.into(),
            operation,
            api_version: write.api_version.into(),
            subresource: write.subresource.into(),
            time: None,
            fields: FieldSet::new(),
        }
    }

    /// What tells entries apart, in a form whose order is the order of the server's messages. One who applies is
    /// the same in every version.
    pub(super) fn identity(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("\"{name}\":{}", crate::apply::literal::json(&value.into())));
            }
        };
        part("manager", &self.manager);
        part("operation", self.operation.as_str());
        part("apiVersion", if self.operation == Operation::Apply { "" } else { &self.api_version });
        part("subresource", &self.subresource);
        format!("{{{}}}", parts.join(","))
    }

    fn seconds(&self) -> i64 {
        self.time.map_or(0, Timestamp::as_second)
    }

    fn to_json(&self) -> Value {
        let mut entry = Map::new();
        let mut put = |name: &str, value: Value| entry.insert(name.into(), value);
        if !self.manager.is_empty() {
            put("manager", json!(self.manager));
        }
        put("operation", json!(self.operation.as_str()));
        put("apiVersion", json!(self.api_version));
        if let Some(time) = self.time {
            put("time", json!(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
        }
        put("fieldsType", json!("FieldsV1"));
        put("fieldsV1", self.fields.to_json());
        if !self.subresource.is_empty() {
            put("subresource", json!(self.subresource));
        }
        Value::Object(entry)
    }

    fn from_json(index: usize, entry: &Value) -> Result<Self, String> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let operation = match text("operation") {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".into()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".into());
        }
        match text("fieldsType") {
            "FieldsV1" => {}
            "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
            other => {
                return Err(format!("invalid fieldsType {} in managed fields entry {index}", quoted(other)));
            }
        }
        let fields = FieldSet::from_json(entry.get("fieldsV1").unwrap_or(&Value::Null))
            .map_err(|reason| format!("error decoding versioned set: error decoding set: {reason}"))?;
        Ok(Self {
            manager: text("manager").into(),
            operation,
            api_version: text("apiVersion").into(),
            subresource: text("subresource").into(),
            time: text("time").parse().ok(),
            fields,
        })
    }
}

/// The entries of an object by identity.
pub(super) type Managed = BTreeMap<String, ManagedEntry>;

/// The `managedFields` of an object, as it has them.
pub(super) fn listed(object: &Value) -> Option<&Vec<Value>> {
    object.get("metadata")?.get("managedFields")?.as_array()
}

/// Reads the owners of an object's fields.
pub fn managed_entries(object: &Value) -> Result<Vec<ManagedEntry>, String> {
    let entries = listed(object).into_iter().flatten();
    entries.enumerate().map(|(index, entry)| ManagedEntry::from_json(index, entry)).collect()
}

/// Whether an object's `managedFields` can be read; if not, the server's reason. A write that brings others is
/// not refused: those of the live object stay.
pub fn validate_managed_fields(object: &Value) -> Result<(), String> {
    managed_entries(object).map(drop)
}

pub(super) fn decode(object: &Value) -> Result<Managed, String> {
    Ok(managed_entries(object)?.into_iter().map(|entry| (entry.identity(), entry)).collect())
}

/// The owners in the server's order, as `managedFields` has them.
pub(super) fn encoded(managed: &Managed) -> Vec<Value> {
    let mut entries: Vec<_> = managed.values().collect();
    entries.sort_by(|a, b| {
        let key = |entry: &ManagedEntry| (entry.operation, entry.seconds());
        let names = |entry: &ManagedEntry| {
            (entry.manager.clone(), entry.api_version.clone(), entry.subresource.clone())
        };
        key(a).cmp(&key(b)).then_with(|| names(a).cmp(&names(b)))
    });
    entries.into_iter().map(ManagedEntry::to_json).collect()
}

/// Writes the owners into the object.
pub(super) fn encode(object: &mut Value, managed: &Managed) {
    forget(object);
    if managed.is_empty() {
        return;
    }
    if let Some(object) = object.as_object_mut() {
        let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields".into(), Value::Array(encoded(managed)));
        }
    }
}

/// Takes the owners out of the object.
pub(super) fn forget(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}
