//! `ControllerRevision`s.

use serde_json::Value;

use super::fields::{fill, given, number};
use super::names;
use crate::kind::Particular;
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// What is particular to `ControllerRevision`s.
#[derive(Debug)]
pub(super) struct ControllerRevision;

impl Particular for ControllerRevision {
    fn default(&self, object: &mut Value) {
        fill(object, "revision", 0);
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        names::check_not_negative(number(object, "revision"), &Path::new("revision"), &mut errors);
        let (path, data) = (Path::new("data"), given(object, "data"));
        if let Some(old) = old {
            if data != given(old, "data") {
                let shown = data.cloned().unwrap_or(Value::Null);
                errors.push(FieldError::invalid(&path, shown, names::IMMUTABLE));
            }
            return errors;
        }
        match data {
            Some(Value::Object(_)) => {}
            None | Some(Value::Null) => errors.push(FieldError::required(&path, "data is mandatory")),
            Some(_) => errors.push(FieldError::required(&path, "data must be a valid JSON object")),
        }
        errors
    }
}
