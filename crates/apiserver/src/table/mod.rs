//! Other forms of objects: tables, as `kubectl get` prints them, and metadata alone.
//!
//! ```text
//! Resource → its printer → columns, and a row for each object
//! ```

mod age;
mod built_in;
mod column;
mod custom;
mod jsonpath;
mod partial;

pub use age::{human, since};
pub use custom::Custom;
pub use partial::{partial, partial_list};

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::registry::Resource;

/// How the objects of a kind are printed.
pub trait Print: Send + Sync {
    /// `columnDefinitions`.
    fn columns(&self) -> Cow<'_, [Value]>;
    /// One object; `now` is for the ages.
    fn row(&self, object: &Value, now: Timestamp) -> Row;
}

/// What is printed of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Value>,
    /// `conditions`, where the kind has some: that it is done and need not be shown.
    pub conditions: Option<Value>,
}

impl From<Vec<Value>> for Row {
    fn from(cells: Vec<Value>) -> Self {
        Self { cells, conditions: None }
    }
}

/// What of each object goes into its row (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl Include {
    /// Understands the parameter.
    pub fn parse(text: Option<&str>) -> Result<Self, ApiError> {
        match text {
            None | Some("" | "Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                Err(ApiError::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: {why}"
                )))
            }
        }
    }
}

/// What a table is made of, besides the objects.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a> {
    /// The version of `meta.k8s.io` that the table is in.
    pub version: &'a str,
    /// What of each object goes into its row.
    pub include: Include,
    /// Whether the columns are told: in a watch only the first event does.
    pub headers: bool,
    /// The present time.
    pub now: Timestamp,
}

/// How the objects of this resource are printed.
pub fn printer(resource: &Resource) -> Box<dyn Print> {
    let built_in = if resource.stored.is_none() { built_in(&resource.id) } else { None };
    built_in.unwrap_or_else(|| Box::new(Custom::new(&resource.columns)))
}

/// How the scales of objects of this resource are printed.
pub fn scale_printer(resource: &Resource) -> Box<dyn Print> {
    Box::new(if resource.kind.is_custom() { built_in::CUSTOM_SCALES } else { built_in::SCALES })
}

/// How the objects of a built-in resource (`group/plural`) are printed.
pub fn built_in(id: &str) -> Option<Box<dyn Print>> {
    built_in::printer(id).map(|printer| Box::new(printer) as Box<dyn Print>)
}

/// A table of one object, as for `get` or an event of a watch.
pub fn of_one(printer: &dyn Print, object: &Value, style: Style<'_>) -> Value {
    let version = object.pointer("/metadata/resourceVersion").cloned();
    let metadata = version.map_or_else(|| json!({}), |version| json!({"resourceVersion": version}));
    table(printer, std::slice::from_ref(object), &metadata, style)
}

/// A table of a list: `metadata` is the metadata of the list, `objects` its items with their `apiVersion` and `kind`.
pub fn table(printer: &dyn Print, objects: &[Value], metadata: &Value, style: Style<'_>) -> Value {
    let rows: Vec<Value> = objects.iter().map(|object| row(printer, object, style)).collect();
    json!({
        "kind": "Table",
        "apiVersion": format!("meta.k8s.io/{}", style.version),
        "metadata": metadata,
        "columnDefinitions": style.headers.then(|| printer.columns().into_owned()),
        "rows": rows,
    })
}

/// The mark of the bookmark that ends the initial events: its object is told even if none are.
const INITIAL_EVENTS_END: &str = "/metadata/annotations/k8s.io~1initial-events-end";

fn row(printer: &dyn Print, object: &Value, style: Style<'_>) -> Value {
    let Row { cells, conditions } = printer.row(object, style.now);
    let included = match style.include {
        Include::Object => object.clone(),
        Include::None if object.pointer(INITIAL_EVENTS_END).is_none() => Value::Null,
        Include::None | Include::Metadata => partial(object, style.version),
    };
    let mut row = json!({"cells": cells, "object": included});
    if let Some(conditions) = conditions {
        row["conditions"] = conditions;
    }
    row
}

#[cfg(test)]
mod tests;
