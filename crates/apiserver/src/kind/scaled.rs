//! The numbers that a custom resource can be scaled by must be numbers.

use serde_json::Value;

use crate::go;
use crate::schema::{FieldError, Path};

/// Where the numbers are, as the definition writes it.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    spec: String,
    status: String,
}

impl Scaled {
    /// The paths of a version of a definition; none if it has no scale.
    pub(super) fn of(version: &Value) -> Option<Self> {
        let scale = version.pointer("/subresources/scale")?;
        let path = |name: &str| Some(scale.get(name)?.as_str()?.to_owned());
        Some(Self { spec: path("specReplicasPath")?, status: path("statusReplicasPath")? })
    }

    /// What is wrong with the wanted number.
    pub(super) fn check_spec(&self, object: &Value) -> Option<FieldError> {
        check(object, &self.spec)
    }

    /// What is wrong with the number that there is.
    pub(super) fn check_status(&self, object: &Value) -> Option<FieldError> {
        check(object, &self.status)
    }
}

fn check(object: &Value, path: &str) -> Option<FieldError> {
    let refuse = |shown: i64, why: &str| Some(FieldError::invalid(&Path::new(path), shown, why));
    match number(object, path) {
        Ok(Some(number)) if number < 0 => refuse(number, "should be a non-negative integer"),
        Ok(Some(number)) if number > i64::from(i32::MAX) => {
            refuse(number, &format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(_) => None,
        Err(why) => refuse(0, &why),
    }
}

/// The number at a path like `.spec.replicas`; none if nothing is there.
fn number(object: &Value, path: &str) -> Result<Option<i64>, String> {
    let (mut value, mut at) = (object, String::new());
    for name in path.trim_start_matches('.').split('.') {
        at = format!("{at}.{name}");
        let next = match value {
            Value::Object(fields) => fields.get(name),
            Value::Null => None,
            other => return Err(accessor_error(&at, other, "map[string]interface{}")),
        };
        let Some(next) = next else { return Ok(None) };
        value = next;
    }
    value.as_i64().map(Some).ok_or_else(|| accessor_error(&at, value, "int64"))
}

fn accessor_error(at: &str, value: &Value, expected: &str) -> String {
    let (shown, found) = (go::printed(value), go::type_of(value));
    format!("{at} accessor error: {shown} is of the type {found}, expected {expected}")
}
