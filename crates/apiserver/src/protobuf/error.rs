//! Why an object cannot be read.

use thiserror::Error;

/// Why an object in protobuf form cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// It does not come to light what it is.
    #[error(transparent)]
    Envelope(Fault),
    /// What is inside is not what it should be.
    #[error("{fault}")]
    Object {
        /// The version it is of.
        api_version: String,
        /// The kind it is of.
        kind: String,
        /// What is wrong.
        fault: Fault,
    },
}

/// What is wrong with the bytes of an object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It does not begin as one.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    Prefix,
    /// There is nothing.
    #[error("empty data")]
    NoData,
    /// There is nothing after the beginning.
    #[error("empty body")]
    NoBody,
    /// Its kind has no message here.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    Kind {
        /// The version it says it is of.
        api_version: String,
        /// The kind it says it is of.
        kind: String,
    },
    /// It ends in the middle of a field.
    #[error("unexpected EOF")]
    End,
    /// A number takes more bytes than a number can.
    #[error("proto: integer overflow")]
    Overflow,
    /// Something begins that is no field.
    #[error("proto: illegal tag {tag}")]
    Tag {
        /// What begins.
        tag: u64,
    },
    /// A group ends that did not begin.
    #[error("proto: unexpected end of group")]
    Group,
    /// A field has another form than its type has.
    #[error("proto: wrong wire type for a field of type {wanted}")]
    Form {
        /// Its type.
        wanted: String,
    },
    /// What must be text is not.
    #[error("proto: a text is not valid UTF-8")]
    Text,
    /// What must hold JSON does not.
    #[error("a field that holds JSON cannot be read: {0}")]
    Json(String),
    /// A time that no calendar has.
    #[error("a time is out of range")]
    Time,
    /// It is nested more deeply than objects may be.
    #[error("the object is nested too deeply")]
    Depth,
    /// Something in a field.
    #[error("{field}: {error}")]
    In {
        /// The path of the field.
        field: String,
        /// What is wrong with it.
        error: Box<Fault>,
    },
}

impl Fault {
    /// The same, of something in this field.
    pub(super) fn within(self, name: &str) -> Self {
        match self {
            Self::In { field, error } => Self::In { field: format!("{name}.{field}"), error },
            error => Self::In { field: name.to_owned(), error: Box::new(error) },
        }
    }
}
