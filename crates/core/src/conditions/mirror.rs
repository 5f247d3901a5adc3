//! Mirror a child's condition on its parent, believed only at the child's own generation.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use muster_api::names::{ConditionType, Reason};

use super::{Finding, Truth, get, message, reason};
use crate::generation::{self, Applied};

/// A child as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// The name to use in messages.
    pub name: &'a str,
    /// Its metadata.
    pub metadata: &'a ObjectMeta,
    /// Its `status.observedGeneration`.
    pub observed_generation: Option<i64>,
    /// Its `status.conditions`.
    pub conditions: &'a [Condition],
}

/// What the child's condition `kind` says, for a condition of its parent.
///
/// Unless the child has observed what was applied to it, and the condition speaks about that generation, the
/// answer is `Unknown`: an old True is not a True.
pub fn mirror(child: Child<'_>, kind: ConditionType, applied: Option<&Applied>) -> Finding {
    let name = child.name;
    let gate = generation::observed(child.metadata, child.observed_generation, applied);
    if let Some(why) = gate.reason() {
        return Finding::unknown(Reason::NotObserved, format!("{name} {why}"));
    }
    match get(child.conditions, kind) {
        None => Finding::unknown(Reason::NotObserved, format!("{name} does not report {kind}")),
        Some(c) if c.observed_generation != child.metadata.generation => {
            Finding::unknown(Reason::NotObserved, format!("{name} reports {kind} for another generation"))
        }
        Some(c) => Finding {
            truth: Truth::from_stored(&c.status),
            reason: reason(&c.reason),
            message: message(format!("{name}: {}", c.message)),
        },
    }
}
