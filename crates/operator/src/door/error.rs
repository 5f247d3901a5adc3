//! Why a call to the API server did not do what it should, and what may have happened all the same.

use crate::lease::NotLeader;

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nothing was sent: this operator does not lead.
    #[error("{0}")]
    NotLeader(#[from] NotLeader),
    /// Someone else changed the object first.
    #[error("{object} was changed by someone else in the meantime")]
    Conflict {
        /// The object.
        object: String,
    },
    /// There is no such object.
    #[error("{object} does not exist")]
    NotFound {
        /// The object.
        object: String,
    },
    /// There is such an object already.
    #[error("{object} exists already")]
    AlreadyExists {
        /// The object.
        object: String,
    },
    /// We may not do that.
    #[error(
        "the API server forbids it for {object}: {message}; give the operator the role that comes with it"
    )]
    Forbidden {
        /// The object.
        object: String,
        /// What the API server says.
        message: String,
    },
    /// The API server will never accept this.
    #[error("the API server refuses {object}: {message}")]
    Refused {
        /// The object.
        object: String,
        /// What the API server says.
        message: String,
    },
    /// The API server cannot answer now, and did nothing.
    #[error("the API server cannot answer for {object} now: {message}")]
    Unavailable {
        /// The object.
        object: String,
        /// What it says.
        message: String,
    },
    /// The answer was lost, or did not come in time: it may have happened.
    #[error("there was no answer for {object}, so it may have happened: {message}")]
    Unanswered {
        /// The object.
        object: String,
        /// What is known of it.
        message: String,
    },
}

impl CallError {
    /// In one word, for metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NotLeader(_) => "NotLeader",
            Self::Conflict { .. } => "Conflict",
            Self::NotFound { .. } => "NotFound",
            Self::AlreadyExists { .. } => "AlreadyExists",
            Self::Forbidden { .. } => "Forbidden",
            Self::Refused { .. } => "Refused",
            Self::Unavailable { .. } => "Unavailable",
            Self::Unanswered { .. } => "Unanswered",
        }
    }

    /// Whether what was asked for may have happened.
    pub const fn may_have_happened(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }

    /// What the API server will not have however often it is asked, in words. Anything else passes by itself.
    pub fn refusal(&self) -> Option<String> {
        matches!(self, Self::Refused { .. } | Self::Forbidden { .. }).then(|| self.to_string())
    }

    /// Reads what the client says about a call for this object.
    pub(super) fn from_kube(error: kube::Error, object: String) -> Self {
        match error {
            kube::Error::Api(status) => Self::from_status(&status, object),
            // Everything below HTTP: whether the request arrived is not known.
            other => Self::Unanswered { object, message: other.to_string() },
        }
    }

    fn from_status(status: &kube::core::Status, object: String) -> Self {
        let message = status.message.clone();
        match status.code {
            409 if status.reason == "AlreadyExists" => Self::AlreadyExists { object },
            409 => Self::Conflict { object },
            404 => Self::NotFound { object },
            401 | 403 => Self::Forbidden { object, message },
            408 | 500 | 504 => Self::Unanswered { object, message },
            429 | 501..=599 => Self::Unavailable { object, message },
            _ => Self::Refused { object, message },
        }
    }
}
