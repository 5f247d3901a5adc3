//! Texts, numbers, truth values and bytes.

use base64::DecodeError;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use serde_json::Value;

use crate::kind::built_in::types::Type;

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is of another type.
    Type { value: String, wanted: String },
    /// In words.
    Said(String),
}

impl Wrong {
    /// A value of another type.
    pub(super) fn type_of(value: &Value, wanted: &str) -> Self {
        Self::Type { value: crate::go::kind_of(value).to_owned(), wanted: wanted.to_owned() }
    }
}

/// Reads what is no object, list or map.
pub(super) fn read(value: Value, of: &Type) -> Result<Value, Wrong> {
    match (of, value) {
        (Type::Text { .. }, value @ Value::String(_))
        | (Type::Float, value @ Value::Number(_))
        | (Type::Bool, value @ Value::Bool(_)) => Ok(value),
        (Type::Integer { name, is_wide }, Value::Number(number)) => {
            let fits = number.as_i64().filter(|number| *is_wide || i32::try_from(*number).is_ok());
            let wrong = || Wrong::Type { value: format!("number {number}"), wanted: name.clone() };
            fits.map(Value::from).ok_or_else(wrong)
        }
        (Type::Bytes, Value::String(text)) => bytes(&text),
        (of, value) => Err(Wrong::type_of(&value, &of.name())),
    }
}

/// Bits after the end do not matter, as with Go.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Base64, read and written anew. Line breaks in it do not count.
fn bytes(text: &str) -> Result<Value, Wrong> {
    let kept: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    match LENIENT.decode(&kept) {
        Ok(bytes) => Ok(STANDARD.encode(bytes).into()),
        Err(error) => {
            let at = match error {
                // What follows the end is wrong, not the end.
                DecodeError::InvalidByte(at, b'=') if kept.len() > at + 2 && at % 4 == 2 => at + 2,
                DecodeError::InvalidByte(at, b'=') if at % 4 == 3 => at + 1,
                DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
                DecodeError::InvalidLength(length) => length - length % 4,
                DecodeError::InvalidPadding => kept.len(),
            };
            Err(Wrong::Said(format!("illegal base64 data at input byte {at}")))
        }
    }
}

/// A number or a text.
pub(super) fn int_or_string(value: Value) -> Result<Value, Wrong> {
    match value {
        Value::String(_) => Ok(value),
        value => read(value, &Type::Integer { name: "int32".to_owned(), is_wide: false }),
    }
}
