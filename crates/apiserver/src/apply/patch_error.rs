//! Why a patch was refused, and with which status.

/// Why a patch was refused. The text is the message of the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// It is no patch: 400 `BadRequest`.
    #[error("{0}")]
    BadRequest(String),
    /// It has too many operations: 413 `RequestEntityTooLarge`.
    #[error("{0}")]
    TooLarge(String),
    /// It does not apply to the object: 422.
    #[error("{0}")]
    DoesNotApply(String),
    /// It cannot be merged, for a reason that the server has no status for: 500 `InternalError`.
    #[error("{0}")]
    Internal(String),
}
