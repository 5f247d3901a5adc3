//! What is news in a status that was written: said as Events, so that a restart, which writes nothing, says nothing.

use muster_api::cluster::ReplicatedClusterStatus;
use muster_api::names::ConditionType;
use muster_api::{Condition, Member, ReplicatedCluster};
use muster_core::conditions::get;

use crate::context::Context;
use crate::events::{Occasion, Tone};

/// The conditions of a cluster that people want to hear of, and which turn of each is a warning.
const OF_CLUSTER: [(ConditionType, &str); 7] = [
    (ConditionType::SpecValid, "False"),
    (ConditionType::Ready, "False"),
    (ConditionType::Available, "False"),
    (ConditionType::ClusteringActive, "False"),
    (ConditionType::ReconciliationActive, "False"),
    (ConditionType::Recovering, "True"),
    (ConditionType::RollingOut, ""),
];

/// The same for a Member.
const OF_MEMBER: [(ConditionType, &str); 3] = [
    (ConditionType::SpecValid, "False"),
    (ConditionType::Joined, "False"),
    (ConditionType::StorageReady, "False"),
];

/// Says what changed for a cluster.
pub fn of_cluster(context: &Context, before: &ReplicatedCluster, after: &ReplicatedCluster) {
    let empty = ReplicatedClusterStatus::default();
    let old = before.status.as_ref().unwrap_or(&empty);
    let new = after.status.as_ref().unwrap_or(&empty);
    for occasion in turns(&OF_CLUSTER, &old.conditions, &new.conditions) {
        context.herald.say_of(after, &occasion);
    }
    if old.primary != new.primary
        && let Some(primary) = &new.primary
    {
        let message = match &old.primary {
            Some(before) => format!("clients are served by {primary}; before by {before}"),
            None => format!("clients are served by {primary}"),
        };
        context.herald.say_of(after, &Occasion { tone: Tone::Normal, reason: "PrimaryChanged", message });
    }
    if old.last_request != new.last_request
        && let Some(request) = &new.last_request
        && request.result != "Accepted"
    {
        let tone = if request.result == "Done" { Tone::Normal } else { Tone::Warning };
        let message = format!("{} {}: {}: {}", request.action, request.id, request.result, request.message);
        context.herald.say_of(after, &Occasion { tone, reason: "RequestEnded", message });
    }
}

/// Says what changed for a Member.
pub fn of_member(context: &Context, before: &Member, after: &Member) {
    let conditions =
        |member: &Member| member.status.as_ref().map(|s| s.conditions.clone()).unwrap_or_default();
    for occasion in turns(&OF_MEMBER, &conditions(before), &conditions(after)) {
        context.herald.say_of(after, &occasion);
    }
}

/// The conditions that turned, in words. What is `Unknown` is not news: it is what a new generation begins with.
fn turns(kinds: &[(ConditionType, &str)], old: &[Condition], new: &[Condition]) -> Vec<Occasion> {
    let turned = kinds.iter().filter_map(|(kind, bad)| {
        let now = get(new, *kind)?;
        let before = get(old, *kind);
        let same = before.is_some_and(|before| before.status == now.status && before.reason == now.reason);
        if same || now.status == "Unknown" || (before.is_none() && now.status != *bad) {
            return None;
        }
        let tone = if now.status == *bad { Tone::Warning } else { Tone::Normal };
        let message = format!("{kind} is {}: {}", now.status, now.message);
        Some(Occasion { tone, reason: kind.as_str(), message })
    });
    turned.collect()
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use muster_api::Time;

    fn condition(kind: ConditionType, status: &str, reason: &str) -> Condition {
        Condition {
            type_: kind.to_string(),
            status: status.into(),
            reason: reason.into(),
            message: "m".into(),
            observed_generation: Some(1),
            last_transition_time: Time(jiff::Timestamp::UNIX_EPOCH),
        }
    }

    #[test]
    fn a_turn_is_news_and_a_restatement_is_not() {
        let valid = condition(ConditionType::SpecValid, "True", "Valid");
        let invalid = condition(ConditionType::SpecValid, "False", "Invalid");
        let said = turns(&OF_CLUSTER, from_ref(&valid), from_ref(&invalid));
        assert_eq!(
            said.iter().map(|one| (one.tone, one.reason)).collect::<Vec<_>>(),
            [(Tone::Warning, "SpecValid")]
        );
        assert!(turns(&OF_CLUSTER, from_ref(&invalid), from_ref(&invalid)).is_empty());
        assert_eq!(turns(&OF_CLUSTER, &[invalid], from_ref(&valid))[0].tone, Tone::Normal);
        assert!(turns(&OF_CLUSTER, &[], &[valid]).is_empty(), "that all is well from the start is no news");
    }

    #[test]
    fn what_is_not_known_is_not_news() {
        let ready = condition(ConditionType::Ready, "True", "AsDesired");
        let unknown = condition(ConditionType::Ready, "Unknown", "Reconciling");
        assert!(turns(&OF_CLUSTER, &[ready], &[unknown]).is_empty());
    }
}
