//! What is wrong with one field, in the words of the API server.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::go::{self, GoNumber};
use super::path::Path;

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// A value that is malformed or out of bounds.
    Invalid,
    /// A value that must be given.
    Required,
    /// A value that is not one of those allowed.
    NotSupported,
    /// A value that must be unique, a second time.
    Duplicate,
    /// A value that may not be given here.
    Forbidden,
    /// A text that is too long.
    TooLong,
    /// Too many items or properties.
    TooMany,
    /// A value of another type.
    TypeInvalid,
    /// A value that refers to nothing.
    NotFound,
    /// Not the user's fault.
    Internal,
}

impl ErrorKind {
    /// The `reason` of the cause in a `Status`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::Required => "FieldValueRequired",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotFound => "FieldValueNotFound",
            Self::Internal => "InternalError",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::Required => "Required value",
            Self::NotSupported => "Unsupported value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
            Self::Internal => "Internal error",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::Internal)
    }
}

/// One problem with one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What kind of problem it is.
    pub kind: ErrorKind,
    /// The field; `<nil>` for the whole object.
    pub field: String,
    /// The value that is wrong, unless it is left out on purpose.
    pub value: Option<Value>,
    /// What is wrong with it; may be empty.
    pub detail: String,
    /// The value as it is shown, where that is not its JSON.
    shown: Option<String>,
}

impl FieldError {
    fn new(kind: ErrorKind, path: &Path, value: Option<Value>, detail: impl Into<String>) -> Self {
        Self { kind, field: path.to_string(), value, detail: detail.into(), shown: None }
    }

    /// A value that is malformed or out of bounds.
    pub fn invalid(path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, path, Some(value.into()), detail)
    }

    /// As [`Self::invalid`], for a value that is shown in a form of its own.
    pub(crate) fn invalid_shown(path: &Path, value: Value, shown: String, detail: impl Into<String>) -> Self {
        Self { shown: Some(shown), ..Self::invalid(path, value, detail) }
    }

    /// The same, with the value shown in a form of its own.
    #[must_use]
    pub(crate) fn showing(self, shown: String) -> Self {
        Self { value: Some(self.value.unwrap_or_default()), shown: Some(shown), ..self }
    }

    /// As [`Self::invalid`], without showing the value.
    pub fn invalid_without_value(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, path, None, detail)
    }

    /// A value of another type.
    pub fn type_invalid(path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::TypeInvalid, path, Some(value.into()), detail)
    }

    /// A value that must be given.
    pub fn required(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Required, path, None, detail)
    }

    /// A value that may not be given here.
    pub fn forbidden(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, path, None, detail)
    }

    /// A second value where all must differ.
    pub fn duplicate(path: &Path, value: Option<Value>) -> Self {
        Self::new(ErrorKind::Duplicate, path, value, "")
    }

    /// A value that refers to nothing.
    pub fn not_found(path: &Path, value: impl Into<Value>) -> Self {
        Self::new(ErrorKind::NotFound, path, Some(value.into()), "")
    }

    /// A value that is not one of those allowed.
    pub fn not_supported(path: &Path, value: impl Into<Value>, allowed: &[String]) -> Self {
        let quoted: Vec<_> = allowed.iter().map(|value| go::quote(value)).collect();
        let detail = match quoted.as_slice() {
            [] => String::new(),
            _ => format!("supported values: {}", quoted.join(", ")),
        };
        Self::new(ErrorKind::NotSupported, path, Some(value.into()), detail)
    }

    /// A text of more than `max` bytes (the server says bytes, and counts characters).
    pub fn too_long(path: &Path, max: i64) -> Self {
        let detail = match max {
            max if max < 0 => "value is too long".to_owned(),
            1 => "may not be more than 1 byte".to_owned(),
            _ => format!("may not be more than {max} bytes"),
        };
        Self::new(ErrorKind::TooLong, path, None, detail)
    }

    /// More than `max` items or properties.
    pub fn too_many(path: &Path, actual: usize, max: i64) -> Self {
        let detail = match max {
            max if max < 0 => "has too many items".to_owned(),
            1 => "must have at most 1 item".to_owned(),
            _ => format!("must have at most {max} items"),
        };
        Self::new(ErrorKind::TooMany, path, Some(actual.into()), detail)
    }

    /// Not the user's fault.
    pub fn internal(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, path, None, detail)
    }

    /// The same problem, of a part of something that is at `path`.
    #[must_use]
    pub(crate) fn below(self, path: &Path) -> Self {
        let field = match self.field.as_str() {
            "<nil>" => path.to_string(),
            field => path.child(field).to_string(),
        };
        Self { field, ..self }
    }

    /// The message without the field: what stands in the `message` of a cause.
    pub fn body(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let (true, Some(value)) = (self.kind.shows_value(), &self.value) {
            text.push_str(": ");
            text.push_str(&match value {
                _ if self.shown.is_some() => self.shown.clone().unwrap_or_default(),
                Value::String(value) => go::quote(value),
                Value::Number(value) => GoNumber::of(value).verb_v(),
                other => go::json(other),
            });
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// The cause that stands for this problem in a `Status`.
    pub fn cause(&self) -> Cause {
        Cause { reason: self.kind.reason(), message: self.body(), field: self.field.clone() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// A cause in the details of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cause {
    /// The kind of the problem.
    pub reason: &'static str,
    /// The problem, without the field.
    pub message: String,
    /// The field.
    pub field: String,
}

/// All problems in one text, as the message of a `Status` with reason `Invalid` ends: one as it is, several in
/// brackets, none twice.
pub fn aggregate(errors: &[FieldError]) -> String {
    let texts: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    let mut seen = HashSet::new();
    let distinct: Vec<&str> = texts.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect();
    match distinct.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_prints_as_the_server_prints_it() {
        let path = Path::new("spec.a");
        let cases = [
            (FieldError::invalid(&path, "x", "bad"), r#"spec.a: Invalid value: "x": bad"#),
            (FieldError::invalid(&path, json!({"b": 1}), "bad"), r#"spec.a: Invalid value: {"b":1}: bad"#),
            (FieldError::invalid(&path, Value::Null, "bad"), "spec.a: Invalid value: null: bad"),
            (FieldError::invalid_without_value(&path, "bad"), "spec.a: Invalid value: bad"),
            (FieldError::required(&path, ""), "spec.a: Required value"),
            (FieldError::forbidden(&path, "no"), "spec.a: Forbidden: no"),
            (FieldError::duplicate(&path, Some(json!("x"))), r#"spec.a: Duplicate value: "x""#),
            (FieldError::not_found(&path, "x"), r#"spec.a: Not found: "x""#),
            (FieldError::too_long(&path, 3), "spec.a: Too long: may not be more than 3 bytes"),
            (FieldError::too_many(&path, 5, 1), "spec.a: Too many: 5: must have at most 1 item"),
            (FieldError::internal(&path, "oh"), "spec.a: Internal error: oh"),
            (
                FieldError::not_supported(&path, "x", &["a".to_owned(), "b".to_owned()]),
                r#"spec.a: Unsupported value: "x": supported values: "a", "b""#,
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn a_cause_has_the_reason_and_not_the_field_in_its_message() {
        let cause = FieldError::type_invalid(&Path::new("spec.a"), "integer", "bad").cause();
        assert_eq!(
            json!(cause),
            json!({
                "reason": "FieldValueTypeInvalid", "message": "Invalid value: \"integer\": bad", "field": "spec.a"
            })
        );
    }

    #[test]
    fn several_problems_stand_in_brackets_and_none_twice() {
        let error = |name: &str| FieldError::required(&Path::new(name), "");
        assert_eq!(aggregate(&[error("a")]), "a: Required value");
        assert_eq!(
            aggregate(&[error("a"), error("b"), error("a")]),
            "[a: Required value, b: Required value]"
        );
    }
}
