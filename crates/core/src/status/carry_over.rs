//! What a writer, never a decision, may take from the stored status, because memory cannot know it after a restart:
//! times, the last request, `restoreReplicas` while nobody looks, and a lower `observedGeneration`. Each is checked for
//! its shape; what does not have it is as if it were absent.

use jiff::Timestamp;
use muster_api::cluster::{LastRequest, ReplicatedClusterStatus};
use muster_api::names::{ConditionType, RequestAction, RequestResult};
use muster_api::{Condition, Time, limits};

use super::text;
use crate::conditions::{get, whole_second};

/// The stored conditions of these kinds, each once and in this order, for their times.
///
/// A stored time that lies ahead, or that the schema would refuse, is not one that we wrote.
pub fn conditions(stored: &[Condition], kinds: &[ConditionType], now: Timestamp) -> Vec<Condition> {
    let ours = |old: &&Condition| {
        let at = old.last_transition_time.0;
        at <= now && text::time(at).is_some()
    };
    kinds.iter().filter_map(|kind| get(stored, *kind)).filter(ours).cloned().collect()
}

/// Puts conditions into the order in which they are shown.
pub fn arrange(conditions: &mut [Condition], kinds: &[ConditionType]) {
    conditions.sort_by_key(|condition| kinds.iter().position(|kind| kind.as_str() == condition.type_));
}

/// The stored last request, if it has the shape of one. Whoever remembers none does not carry one out either.
pub fn last_request(stored: Option<&ReplicatedClusterStatus>, now: Timestamp) -> Option<LastRequest> {
    let request = stored?.last_request.as_ref()?;
    let short = |text: &str, limit: u32| text.chars().count() <= usize::try_from(limit).unwrap_or(0);
    let known =
        request.action.parse::<RequestAction>().is_ok() && request.result.parse::<RequestResult>().is_ok();
    let fits = !request.id.is_empty()
        && short(&request.id, limits::REQUEST_ID_MAX)
        && short(&request.message, limits::MESSAGE_MAX)
        && request.time.as_ref().is_none_or(|time| text::time(time.0).is_some());
    (known && fits).then(|| lost_request(request.clone(), now))
}

/// What is to be said of a request once nobody is left who could carry it out: one that was under way is lost, one that
/// ended has ended.
pub fn lost_request(request: LastRequest, now: Timestamp) -> LastRequest {
    if request.result != RequestResult::Accepted.as_str() {
        return request;
    }
    LastRequest {
        result: RequestResult::Failed.to_string(),
        message: "it was lost with the operator that had taken it up: look again and repeat it".to_owned(),
        time: Some(Time(whole_second(now))),
        ..request
    }
}

/// The stored `restoreReplicas`, if a manager would accept it: at least 1, and no more than there can be members.
pub fn restore_replicas(stored: Option<&ReplicatedClusterStatus>) -> Option<i32> {
    stored?.restore_replicas.filter(|count| (1..=limits::MAX_MEMBERS).contains(count))
}
