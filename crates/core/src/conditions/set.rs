//! Set one condition, read one, compare two lists.

use jiff::{Timestamp, Unit};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use muster_api::names::ConditionType;

use super::{Finding, Truth};

/// Writes `finding` as the condition `kind` at `generation`.
///
/// `lastTransitionTime` is kept while the status stays equal, whatever happens to reason and message;
/// otherwise it is `now`, cut to the second as it is stored.
pub fn set(
    conditions: &mut Vec<Condition>,
    kind: ConditionType,
    finding: Finding,
    generation: i64,
    now: Timestamp,
) {
    let status = finding.truth.as_str();
    let found = conditions.iter().position(|c| c.type_ == kind.as_str());
    let kept = found.and_then(|i| conditions.get(i)).filter(|c| c.status == status);
    let condition = Condition {
        type_: kind.into(),
        status: status.to_owned(),
        reason: finding.reason,
        message: finding.message,
        observed_generation: Some(generation),
        last_transition_time: kept
            .map_or_else(|| Time(whole_second(now)), |c| c.last_transition_time.clone()),
    };
    match found.and_then(|i| conditions.get_mut(i)) {
        Some(slot) => *slot = condition,
        None => conditions.push(condition),
    }
}

/// The condition of that type.
pub fn get(conditions: &[Condition], kind: ConditionType) -> Option<&Condition> {
    named(conditions, kind.as_str())
}

fn named<'a>(conditions: &'a [Condition], name: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.type_ == name)
}

/// What the condition says about `generation`. One that is absent, or that speaks about another generation,
/// says nothing: `Unknown`.
pub fn truth_at(conditions: &[Condition], kind: ConditionType, generation: i64) -> Truth {
    match get(conditions, kind) {
        Some(c) if c.observed_generation == Some(generation) => Truth::from_stored(&c.status),
        _ => Truth::Unknown,
    }
}

/// Whether two lists say the same, timestamps and order apart; an equal list is not written.
pub fn same(left: &[Condition], right: &[Condition]) -> bool {
    left.len() == right.len()
        && left.iter().all(|l| {
            named(right, &l.type_).is_some_and(|r| {
                l.status == r.status
                    && l.reason == r.reason
                    && l.message == r.message
                    && l.observed_generation == r.observed_generation
            })
        })
        && right.iter().all(|r| named(left, &r.type_).is_some())
}

/// Kubernetes stores times by the second; cutting them at the source keeps memory and store equal.
pub fn whole_second(now: Timestamp) -> Timestamp {
    now.round(jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Floor)).unwrap_or(now)
}
