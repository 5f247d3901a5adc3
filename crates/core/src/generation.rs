//! Generation gates: when a report may be believed to speak about the spec we mean (R1.3, R1.4, R1.5).
//!
//! A child counts only when its generation is at least what our last apply returned, its controller has
//! observed that very generation, and its counts match its spec. Everything here answers with a [`Gate`],
//! which carries the words for a message.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use muster_api::names::ConditionType;

use crate::conditions::{self, Truth};

mod workloads;

pub use workloads::{daemon_set, deployment, pod, stateful_set};

/// What a child's report is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The child runs what was applied to it.
    Ready,
    /// The child is on its way; the text says what is still missing.
    NotYet {
        /// What is missing, as a clause without a subject: "has observed generation 3 of 4".
        reason: String,
    },
    /// The read is older than what is known to exist: read again and decide nothing.
    Stale {
        /// How we know, as a clause without a subject.
        reason: String,
    },
    /// The child's own controller has given up.
    Failed {
        /// Why, as a clause without a subject.
        reason: String,
    },
}

impl Gate {
    /// Whether the child counts.
    pub fn is_ready(&self) -> bool {
        *self == Self::Ready
    }

    /// What to tell a person, absent when there is nothing to tell.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::NotYet { reason } | Self::Stale { reason } | Self::Failed { reason } => Some(reason),
        }
    }

    /// What the gate says as a condition: a stale read is `Unknown`, never the old value.
    pub fn truth(&self) -> Truth {
        match self {
            Self::Ready => Truth::True,
            Self::NotYet { .. } | Self::Failed { .. } => Truth::False,
            Self::Stale { .. } => Truth::Unknown,
        }
    }

    fn not_yet(reason: impl Into<String>) -> Self {
        Self::NotYet { reason: reason.into() }
    }

    fn stale(reason: impl Into<String>) -> Self {
        Self::Stale { reason: reason.into() }
    }

    fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into() }
    }
}

/// What our last apply of a child returned.
///
/// Where nothing may be applied (reconciliation stopped), a child found equal to what the spec builds stands
/// for an apply that changed nothing: its uid and generation at that comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The object that was applied; generations of another object under the same name compare with nothing.
    pub uid: String,
    /// Its generation after the apply.
    pub generation: i64,
}

/// How the object being reconciled relates to what this process already knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The same generation as before.
    Known,
    /// A spec not seen yet: reset the conditions and bump `observedGeneration` before anything is touched.
    New,
    /// Older than what was seen: read again and decide nothing.
    Stale,
}

/// Places a read of our own object against the newest generation this process has seen of it.
///
/// `seen` comes from memory, never from the stored `status.observedGeneration`, which anyone may have
/// garbled: a value from there that is too high would stop us for ever.
pub fn own(generation: i64, seen: Option<i64>) -> Own {
    match seen {
        Some(seen) if generation < seen => Own::Stale,
        Some(seen) if generation == seen => Own::Known,
        _ => Own::New,
    }
}

/// Whether `metadata` and `observed_generation` are a current report on what was applied.
///
/// This is the part every kind has in common; counts and conditions come after it.
pub fn observed(metadata: &ObjectMeta, observed_generation: Option<i64>, applied: Option<&Applied>) -> Gate {
    let Some(applied) = applied else {
        return Gate::not_yet("has not been applied yet");
    };
    if metadata.uid.as_deref() != Some(applied.uid.as_str()) {
        return Gate::not_yet("is not the object that was applied");
    }
    let generation = metadata.generation.unwrap_or(0);
    if generation < applied.generation {
        return Gate::stale(format!(
            "was read at generation {generation}, older than the applied {}",
            applied.generation
        ));
    }
    let seen = observed_generation.unwrap_or(0);
    if generation < seen {
        return Gate::stale(format!("was read at generation {generation}, older than its status at {seen}"));
    }
    if metadata.deletion_timestamp.is_some() {
        return Gate::not_yet("is being deleted");
    }
    if seen < generation {
        return Gate::not_yet(format!("has observed generation {seen} of {generation}"));
    }
    Gate::Ready
}

/// A child resource of our own, such as a Member: current, and its condition `kind` True at its generation.
pub fn sub_resource(
    metadata: &ObjectMeta,
    observed_generation: Option<i64>,
    child: &[Condition],
    kind: ConditionType,
    applied: Option<&Applied>,
) -> Gate {
    let gate = observed(metadata, observed_generation, applied);
    if !gate.is_ready() {
        return gate;
    }
    let generation = metadata.generation.unwrap_or(0);
    match conditions::truth_at(child, kind, generation) {
        Truth::True => Gate::Ready,
        Truth::False => Gate::not_yet(format!("is not {kind}{}", because(child, kind))),
        Truth::Unknown => Gate::not_yet(format!("is not known to be {kind}{}", because(child, kind))),
    }
}

/// The worst of several gates, each with the name of its child: a stale read makes the whole undecidable, a
/// failure outweighs waiting. All children of the worst sort are named.
pub fn worst<'a>(gates: impl IntoIterator<Item = (&'a str, Gate)>) -> Gate {
    let (mut stale, mut failed, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    for (name, gate) in gates {
        match gate {
            Gate::Ready => {}
            Gate::Stale { reason } => stale.push(format!("{name} {reason}")),
            Gate::Failed { reason } => failed.push(format!("{name} {reason}")),
            Gate::NotYet { reason } => waiting.push(format!("{name} {reason}")),
        }
    }
    let text = |parts: &[String]| conditions::listed(parts, "; ");
    if !stale.is_empty() {
        Gate::stale(text(&stale))
    } else if !failed.is_empty() {
        Gate::failed(text(&failed))
    } else if !waiting.is_empty() {
        Gate::not_yet(text(&waiting))
    } else {
        Gate::Ready
    }
}

fn because(child: &[Condition], kind: ConditionType) -> String {
    match conditions::get(child, kind) {
        Some(condition) if condition.message.is_empty() => format!(": {}", condition.reason),
        Some(condition) => format!(": {}", condition.message),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
