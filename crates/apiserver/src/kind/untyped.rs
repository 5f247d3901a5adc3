//! A kind of which nothing is known: everything is taken as it comes.

use serde_json::{Value, json};

use super::{Kind, Sharing};
use crate::apply::{FieldSet, Typing, Typings};
use crate::lifecycle::Part;
use crate::schema::FieldError;

/// A kind of which nothing is known.
#[derive(Debug)]
pub struct Untyped(Sharing);

impl Untyped {
    /// In this version of this group.
    pub fn new(group: &str, version: &str) -> Self {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        Self(Sharing {
            typings: Typings::from([(api_version, Typing::deduced())]),
            empty: json!({}),
            merge_keys: None,
            reset_by_whole: FieldSet::new(),
            reset_by_status: FieldSet::new(),
        })
    }
}

impl Kind for Untyped {
    fn read(&self, _: &mut Value) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn default(&self, _: &mut Value) {}

    fn check(&self, _: &Value, _: Option<&Value>, _: Part) -> Vec<FieldError> {
        Vec::new()
    }

    fn sharing(&self) -> &Sharing {
        &self.0
    }
}
