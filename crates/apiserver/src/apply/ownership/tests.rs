//! Ownership as its users meet it: what each kind of write does to the object and to who owns what.

mod applies;
mod properties;
mod updates;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::apply::typed::tests::typing;

pub(super) const VERSION: &str = "example.dev/v1";

/// Somebody who writes things of the kind that the tests of types use.
pub(super) struct Cluster {
    typings: Typings,
    reset: FieldSet,
    empty: Value,
    pub(super) second: i64,
    pub(super) live: Option<Value>,
}

impl Cluster {
    pub(super) fn new() -> Self {
        let typings = Typings::from([(VERSION.to_owned(), typing())]);
        Self { typings, reset: FieldSet::new(), empty: json!({}), second: 1_000_000, live: None }
    }

    /// One with this object, whose owners nobody has recorded.
    pub(super) fn untracked(spec: &Value) -> Self {
        let mut cluster = Self::new();
        let mut object = config(spec);
        object["metadata"]["uid"] = json!("u");
        cluster.live = Some(object);
        cluster
    }

    fn write<'a>(&'a self, manager: &'a str) -> Write<'a> {
        let now = Timestamp::from_second(self.second).unwrap();
        Write {
            typings: &self.typings,
            api_version: VERSION,
            kind: "Thing",
            subresource: "",
            manager,
            reset: &self.reset,
            empty: &self.empty,
            now,
        }
    }

    pub(super) fn apply(&mut self, manager: &str, spec: &Value, force: bool) -> Result<Applied, ApplyError> {
        self.second += 1;
        let applied = apply(self.live.as_ref(), &config(spec), force, &self.write(manager))?;
        self.keep(applied.object.clone());
        Ok(applied)
    }

    pub(super) fn update(&mut self, manager: &str, change: impl Fn(&mut Value)) {
        self.second += 1;
        let mut new = self.live.clone().unwrap_or_else(|| config(&json!({})));
        change(&mut new);
        let tracked = track_update(self.live.as_ref(), new.clone(), &self.write(manager));
        self.keep(tracked);
    }

    fn keep(&mut self, mut object: Value) {
        object["metadata"]["uid"] = json!("u");
        self.live = Some(object);
    }

    pub(super) fn spec(&self) -> Value {
        self.live.as_ref().unwrap()["spec"].clone()
    }

    /// What a manager owns by an operation, as `fieldsV1` has it below `spec`.
    pub(super) fn owned(&self, manager: &str, operation: Operation) -> Value {
        let entries = managed_entries(self.live.as_ref().unwrap()).unwrap();
        let mut entries = entries.into_iter();
        let entry = entries.find(|entry| entry.manager == manager && entry.operation == operation);
        entry.map_or(Value::Null, |entry| entry.fields.to_json()["f:spec"].clone())
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = managed_entries(self.live.as_ref().unwrap()).unwrap();
        entries.into_iter().map(|entry| format!("{} {}", entry.manager, entry.operation.as_str())).collect()
    }
}

pub(super) fn config(spec: &Value) -> Value {
    json!({"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
}
