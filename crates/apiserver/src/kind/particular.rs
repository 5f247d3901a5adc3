//! What is particular to one built-in kind, besides its type: its defaults, what the server sets, and its checks.

use serde_json::Value;

use super::Around;
use crate::error::ApiError;
use crate::lifecycle::Part;
use crate::schema::FieldError;

/// What is particular to one built-in kind. The steps are those of [`super::Kind`]; what an implementation leaves out is
/// not particular.
pub trait Particular: std::fmt::Debug + Send + Sync {
    /// Fills in what was left open.
    fn default(&self, object: &mut Value) {
        let _ = object;
    }

    /// The server's own part: what clients cannot set, what is allocated, what admission adds.
    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        let _ = (object, old, part, around);
        Ok(())
    }

    /// See [`super::Kind::complete`].
    fn complete(&self, object: &mut Value, sent: &Value) {
        let _ = (object, sent);
    }

    /// See [`super::Kind::allocates`].
    fn allocates(&self) -> bool {
        false
    }

    /// What is wrong with an object, its metadata apart: that is checked for all kinds alike.
    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let _ = (object, old, part);
        Vec::new()
    }

    /// What is worth a `Warning` header although it is accepted.
    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let _ = (object, old);
        Vec::new()
    }

    /// See [`super::Kind::deprecation`].
    fn deprecation(&self) -> Option<&'static str> {
        None
    }

    /// See [`super::Kind::grace`].
    fn grace(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        let _ = (object, asked);
        None
    }

    /// See [`super::Kind::marked`].
    fn marked(&self, object: &Value, now: &str) -> Option<Value> {
        let _ = (object, now);
        None
    }

    /// See [`super::Kind::refuse_end`].
    fn refuse_end(&self, object: &Value) -> Result<(), ApiError> {
        let _ = object;
        Ok(())
    }

    /// See [`super::Kind::is_held`].
    fn is_held(&self, object: &Value) -> bool {
        let _ = object;
        false
    }

    /// See [`super::Kind::orphans`].
    fn orphans(&self) -> bool {
        false
    }
}

/// A kind with nothing particular.
#[derive(Debug)]
pub struct Plain;

impl Particular for Plain {}
