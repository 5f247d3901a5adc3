//! The credentials for registries in a `Secret`: JSON inside, with what Go says of JSON that is none.

use serde_json::Value;

use super::data::bytes;
use crate::schema::{FieldError, Path};

/// What is wrong with the credentials under this key.
pub(super) fn check(path: &Path, key: &str, value: Option<&Value>, errors: &mut Vec<FieldError>) {
    let path = path.key(key);
    match value {
        None => errors.push(FieldError::required(&path, "")),
        Some(value) => {
            if let Some(detail) = problem(&bytes(value)) {
                errors.push(FieldError::invalid(&path, "<secret contents redacted>", detail));
            }
        }
    }
}

fn problem(bytes: &[u8]) -> Option<String> {
    let found = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(_) | Value::Null) => return None,
        Ok(Value::Array(_)) => "array",
        Ok(Value::String(_)) => "string",
        Ok(Value::Number(_)) => "number",
        Ok(Value::Bool(_)) => "bool",
        Err(error) if error.is_eof() => return Some("unexpected end of JSON input".to_owned()),
        Err(_) => {
            let text = String::from_utf8_lossy(bytes);
            let first = text.trim_start().chars().next().unwrap_or_default();
            return Some(format!("invalid character '{first}' looking for beginning of value"));
        }
    };
    Some(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_are_credentials() {
        assert_eq!(problem(b"{}"), None);
        assert_eq!(problem(b""), Some("unexpected end of JSON input".into()));
        assert_eq!(problem(b" c"), Some("invalid character 'c' looking for beginning of value".into()));
        assert_eq!(
            problem(b"[1]"),
            Some("json: cannot unmarshal array into Go value of type map[string]interface {}".into())
        );
    }
}
