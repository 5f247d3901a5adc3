//! An object as it is kept: the JSON text that clients get.
//!
//! Most requests only pass objects on, so they are kept as text: a list is put together without reading its objects,
//! and ten thousand of them take little more memory than their size.

use std::fmt;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::Revision;
use crate::go;

/// The field of `metadata` that says the revision.
const VERSION: &str = "resourceVersion";
/// The most digits of a revision, with two quotes around them.
const VERSION_ROOM: usize = 22;

/// An object as JSON text. Cloning shares it.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Bytes);

impl Document {
    /// The text of this object.
    pub fn of(object: &Value) -> Self {
        // A vector that grew has room to spare, and `Bytes` would keep it.
        Self(Bytes::from(go::json(object).into_boxed_slice()))
    }

    /// What was kept before: the caller answers for it being JSON.
    pub(super) fn from_text(text: Bytes) -> Self {
        Self(text)
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

/// An object's text, complete but for its revision, which is known only when its turn comes. The text is made by
/// whoever writes, not by the one thread that commits.
pub(super) struct Draft {
    text: Vec<u8>,
    /// Where the revision goes; none for what has no metadata.
    version_at: Option<usize>,
}

impl Draft {
    pub(super) fn of(mut object: Value) -> Self {
        let Some(mut metadata) =
            object.get_mut("metadata").and_then(Value::as_object_mut).map(std::mem::take)
        else {
            return Self { text: go::json(&object), version_at: None };
        };
        metadata.insert(VERSION.to_owned(), Value::Null);
        let mut draft = Self { text: Vec::new(), version_at: None };
        if let Value::Object(fields) = &object {
            draft.write_fields(fields, |draft, name, value| {
                if name == "metadata" { draft.write_metadata(&metadata) } else { draft.write(value) }
            });
        }
        draft
    }

    fn write_metadata(&mut self, metadata: &Map<String, Value>) {
        self.write_fields(metadata, |draft, name, value| {
            if name == VERSION {
                draft.version_at = Some(draft.text.len());
            } else {
                draft.write(value);
            }
        });
    }

    fn write_fields(&mut self, fields: &Map<String, Value>, each: impl Fn(&mut Self, &str, &Value)) {
        self.text.push(b'{');
        for (index, (name, value)) in fields.iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            self.text.extend_from_slice(serde_json::Value::from(name.as_str()).to_string().as_bytes());
            self.text.push(b':');
            each(self, name, value);
        }
        self.text.push(b'}');
    }

    fn write(&mut self, value: &Value) {
        go::write_json(value, &mut self.text);
    }

    /// The most bytes it can take.
    pub(super) fn room(&self) -> usize {
        self.text.len() + VERSION_ROOM
    }

    /// The document at this revision, in exactly the memory it needs.
    pub(super) fn at(&self, revision: Revision) -> Document {
        let Some(at) = self.version_at else {
            return Document(Bytes::copy_from_slice(&self.text));
        };
        let version = revision.to_string();
        let mut text = Vec::with_capacity(self.text.len() + version.len() + 2);
        text.extend_from_slice(&self.text[..at]);
        text.push(b'"');
        text.extend_from_slice(version.as_bytes());
        text.push(b'"');
        text.extend_from_slice(&self.text[at..]);
        Document(Bytes::from(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_draft_gets_its_revision_and_nothing_else() {
        let object = json!({
            "a\"b": 1,
            "metadata": {"name": "x", "resourceVersion": "7", "uid": "u"},
            "spec": {"metadata": {"resourceVersion": "8"}, "resourceVersion": null},
        });
        let mut expected = object.clone();
        expected["metadata"]["resourceVersion"] = "123".into();
        assert_eq!(Draft::of(object).at(123).value(), expected);
    }

    #[test]
    fn what_has_no_metadata_gets_no_revision() {
        for odd in [json!({"a": 1}), json!({"metadata": 3}), json!([1]), json!(null)] {
            assert_eq!(Draft::of(odd.clone()).at(5).value(), odd);
        }
        assert_eq!(
            Draft::of(json!({"metadata": {}})).at(5).text().as_ref(),
            br#"{"metadata":{"resourceVersion":"5"}}"#
        );
    }

    #[test]
    fn a_draft_says_no_less_than_it_takes() {
        let draft = Draft::of(json!({"metadata": {}}));
        assert_eq!(draft.room(), draft.at(u64::MAX).text().len());
    }
}
