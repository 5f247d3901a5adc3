//! Conditions: set one, summarise several into Ready, mirror a child's, reset them for a new generation.
//!
//! A condition is a standard `metav1.Condition`. It always carries the generation it speaks about, a
//! CamelCase reason and a message a person can act on; `lastTransitionTime` moves only when the status flips;
//! what cannot be known is `Unknown`.

use muster_api::names::Reason;

mod message;
mod mirror;
mod reset;
mod set;
mod summarise;

pub use message::{MESSAGE_LIMIT, NAMES_LIMIT, REASON_LIMIT, listed, message, names, reason};
pub use mirror::{Child, mirror};
pub use reset::{ClusterMeasurements, MemberMeasurements, reset_cluster, reset_member};
pub use set::{get, same, set, truth_at, whole_second};
pub use summarise::{summarise_cluster, summarise_member};

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    /// It is so.
    True,
    /// It is not so.
    False,
    /// It cannot be known.
    Unknown,
}

impl Truth {
    /// The word used in a `metav1.Condition`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }

    /// Reads a stored word; whatever is not `True` or `False` is not knowledge.
    pub fn from_stored(word: &str) -> Self {
        match word {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

/// What was found out, before it becomes a condition: everything but its type, generation and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is so.
    pub truth: Truth,
    /// Why, in one CamelCase word.
    pub reason: String,
    /// Why, for a person.
    pub message: String,
}

impl Finding {
    /// A finding with one of our own reasons, its message made fit for a `metav1.Condition`.
    pub fn new(truth: Truth, why: Reason, text: impl Into<String>) -> Self {
        Self { truth, reason: why.into(), message: message(text.into()) }
    }

    /// It is so.
    pub fn is_true(why: Reason, text: impl Into<String>) -> Self {
        Self::new(Truth::True, why, text)
    }

    /// It is not so.
    pub fn is_false(why: Reason, text: impl Into<String>) -> Self {
        Self::new(Truth::False, why, text)
    }

    /// It cannot be known.
    pub fn unknown(why: Reason, text: impl Into<String>) -> Self {
        Self::new(Truth::Unknown, why, text)
    }
}

#[cfg(test)]
mod tests;
