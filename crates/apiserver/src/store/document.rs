//! An object as it is kept: the JSON text that clients get.
//!
//! Most requests only pass objects on, so they are kept as text: a list is put together without reading its objects,
//! and ten thousand of them take little more memory than their size.

use std::fmt;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::{Revision, Stored};
use crate::go;

/// The field of `metadata` that says the revision.
const VERSION: &str = "resourceVersion";
/// What most objects need: their text grows seldom while it is written.
const USUAL_BYTES: usize = 2 << 10;
/// The most digits of a revision, with two quotes around them.
const VERSION_ROOM: usize = 22;
/// Follows the text of an object that is to be written anew by the next write, even by one that changes nothing: white space, which
/// says nothing to clients, and is on disk wherever the text is.
const WRITTEN_ANEW: u8 = b' ';

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

    /// Whether its text has this word.
    pub fn mentions(&self, word: &str) -> bool {
        std::str::from_utf8(&self.0).is_ok_and(|text| text.contains(word))
    }

    /// The text.
    pub fn text(&self) -> &Bytes {
        &self.0
    }

    /// Whether its draft was [to be written anew](Draft::written_anew).
    pub fn is_written_anew(&self) -> bool {
        self.0.last() == Some(&WRITTEN_ANEW)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// An object's text, complete but for its revision, which is known only when its turn comes. The text is made by
/// whoever writes, not by the one thread that commits.
pub struct Draft {
    text: Vec<u8>,
    /// Where the revision goes; none for what has no metadata.
    version_at: Option<usize>,
}

impl Draft {
    /// The draft of this object.
    pub fn of(object: &Value) -> Self {
        Self::without(object, &[])
    }

    /// The draft of this object without some of its fields.
    pub fn without(object: &Value, left_out: &[&str]) -> Self {
        let mut draft = Self { text: Vec::with_capacity(USUAL_BYTES), version_at: None };
        let Value::Object(fields) = object else {
            draft.write(object);
            return draft;
        };
        let kept = fields.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
        draft.text.push(b'{');
        for (index, (name, value)) in kept.enumerate() {
            draft.begin(index == 0, name);
            match value.as_object().filter(|_| name == "metadata") {
                Some(metadata) => draft.write_metadata(metadata),
                None => draft.write(value),
            }
        }
        draft.text.push(b'}');
        draft
    }

    /// The same, said to be written anew by the next write or not.
    #[must_use]
    pub fn written_anew(mut self, is: bool) -> Self {
        if is {
            self.text.push(WRITTEN_ANEW);
        }
        self
    }

    /// Whether this is the text that is stored.
    pub fn is(&self, stored: &Stored) -> bool {
        self.at(stored.revision) == stored.object
    }

    /// The metadata, in the order of its names, with a place for the revision.
    fn write_metadata(&mut self, metadata: &Map<String, Value>) {
        self.text.push(b'{');
        let mut first = true;
        for (name, value) in metadata.iter().filter(|(name, _)| *name != VERSION) {
            if self.version_at.is_none() && name.as_str() > VERSION {
                self.leave_room(first);
                first = false;
            }
            self.begin(first, name);
            self.write(value);
            first = false;
        }
        if self.version_at.is_none() {
            self.leave_room(first);
        }
        self.text.push(b'}');
    }

    fn leave_room(&mut self, first: bool) {
        self.begin(first, VERSION);
        self.version_at = Some(self.text.len());
    }

    /// The name of a field.
    fn begin(&mut self, first: bool, name: &str) {
        if !first {
            self.text.push(b',');
        }
        // Writing into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.text, name);
        self.text.push(b':');
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
        assert_eq!(Draft::of(&object).at(123).value(), expected);
    }

    #[test]
    fn what_has_no_metadata_gets_no_revision() {
        for odd in [json!({"a": 1}), json!({"metadata": 3}), json!([1]), json!(null)] {
            assert_eq!(Draft::of(&odd).at(5).value(), odd);
        }
        assert_eq!(
            Draft::of(&json!({"metadata": {}})).at(5).text().as_ref(),
            br#"{"metadata":{"resourceVersion":"5"}}"#
        );
    }

    #[test]
    fn the_revision_stands_where_its_name_belongs() {
        for metadata in
            [json!({}), json!({"a": 1}), json!({"z": 1}), json!({"a": 1, "resourceVersion": "3", "z": 2})]
        {
            let object = json!({"kind": "K", "apiVersion": "v", "metadata": metadata, "resourceVersion": 1});
            let mut expected = object.clone();
            expected["metadata"]["resourceVersion"] = "9".into();
            assert_eq!(Draft::of(&object).at(9).text().as_ref(), expected.to_string().as_bytes());
            for field in ["kind", "apiVersion"] {
                expected.as_object_mut().unwrap().remove(field);
            }
            let bare = Draft::without(&object, &["kind", "apiVersion"]).at(9);
            assert_eq!(bare.text().as_ref(), expected.to_string().as_bytes());
        }
    }

    #[test]
    fn what_is_to_be_written_anew_says_so_and_is_the_same_object() {
        let object = json!({"metadata": {"name": "x"}, "spec": {}});
        let plain = Draft::of(&object).at(7);
        let marked = Draft::of(&object).written_anew(true).at(7);
        assert_eq!((plain.is_written_anew(), marked.is_written_anew()), (false, true));
        assert_eq!(plain.value(), marked.value());
        let stored = |object: &Document| Stored { object: object.clone(), revision: 7 };
        assert!(Draft::of(&object).is(&stored(&plain)));
        assert!(!Draft::of(&object).is(&stored(&marked)));
        assert!(!Draft::of(&json!({"metadata": {"name": "y"}, "spec": {}})).is(&stored(&plain)));
    }

    #[test]
    fn a_draft_says_no_less_than_it_takes() {
        let draft = Draft::of(&json!({"metadata": {}}));
        assert_eq!(draft.room(), draft.at(u64::MAX).text().len());
    }
}
