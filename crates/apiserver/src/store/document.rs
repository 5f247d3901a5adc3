//! An object as it is kept: the JSON text that clients get.
//!
//! Most requests only pass objects on, so they are kept as text: a list is put together without reading its objects,
//! and ten thousand of them take little more memory than their size.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

/// An object as JSON text. Cloning shares it.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Bytes);

impl Document {
    /// The text of this object.
    pub fn of(object: &Value) -> Self {
        Self(Bytes::from(object.to_string()))
    }

    /// The object. Only what was an object is ever kept, so there is no error to tell of.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.0).unwrap_or_default()
    }

    /// The text.
    pub fn text(&self) -> &Bytes {
        &self.0
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}
