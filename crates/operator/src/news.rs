//! What is news in a status that was written: said as Events, so that a restart, which writes nothing, says nothing.
//!
//! It is news against what was told last, not against what is stored: what somebody else writes into a status, and is put
//! right, has not happened.

use muster_api::cluster::{LastRequest, ReplicatedClusterStatus};
use muster_api::names::{ConditionType, Phase, Reason};
use muster_api::{Condition, Member, ReplicatedCluster};
use muster_core::conditions::get;

use crate::context::Context;
use crate::events::{Occasion, Tone};

/// The conditions of a cluster that people want to hear of, and which turn of each is a warning.
const OF_CLUSTER: [(ConditionType, &str); 8] = [
    (ConditionType::SpecValid, "False"),
    (ConditionType::Ready, "False"),
    (ConditionType::Available, "False"),
    (ConditionType::Healthy, "False"),
    (ConditionType::ClusteringActive, "False"),
    (ConditionType::ReconciliationActive, "False"),
    (ConditionType::Recovering, "True"),
    (ConditionType::RollingOut, ""),
];

/// Those that are False while a cluster is formed, or a Member made.
const WHILE_FORMING: [ConditionType; 5] = [
    ConditionType::Ready,
    ConditionType::Available,
    ConditionType::Healthy,
    ConditionType::Joined,
    ConditionType::StorageReady,
];

/// Why something is not made, and will not be before a person has looked: that is said also while a cluster is formed.
const STUCK: [Reason; 2] = [Reason::NameTaken, Reason::ApplyRefused];

/// The same for a Member.
const OF_MEMBER: [(ConditionType, &str); 3] = [
    (ConditionType::SpecValid, "False"),
    (ConditionType::Joined, "False"),
    (ConditionType::StorageReady, "False"),
];

/// What was told last of a cluster, as far as news are made of it.
#[derive(Clone, Debug, Default)]
pub struct ClusterTold {
    conditions: Vec<Condition>,
    primary: Option<String>,
    last_request: Option<LastRequest>,
}

impl ClusterTold {
    /// What this cluster's status tells.
    pub fn by(cluster: &ReplicatedCluster) -> Self {
        let Some(status) = &cluster.status else { return Self::default() };
        Self {
            conditions: brief(&OF_CLUSTER, &status.conditions),
            primary: status.primary.clone(),
            last_request: status.last_request.clone(),
        }
    }
}

/// What was told last of a Member, as far as news are made of it.
#[derive(Clone, Debug, Default)]
pub struct MemberTold {
    conditions: Vec<Condition>,
    /// Whether it had a role: before that, it is being made.
    joined: bool,
}

impl MemberTold {
    /// What this Member's status tells.
    pub fn by(member: &Member) -> Self {
        let Some(status) = &member.status else { return Self::default() };
        Self { conditions: brief(&OF_MEMBER, &status.conditions), joined: status.role.is_some() }
    }
}

/// These conditions without their words, of which there may be many.
fn brief(kinds: &[(ConditionType, &str)], all: &[Condition]) -> Vec<Condition> {
    let found = kinds.iter().filter_map(|(kind, _)| get(all, *kind));
    found.map(|one| Condition { message: String::new(), ..one.clone() }).collect()
}

/// Says what changed for a cluster since this was told.
pub fn of_cluster(context: &Context, old: &ClusterTold, after: &ReplicatedCluster) {
    let empty = ReplicatedClusterStatus::default();
    let new = after.status.as_ref().unwrap_or(&empty);
    let forming = [Phase::Pending.as_str(), Phase::Provisioning.as_str()];
    let formed = new.phase.as_deref().is_some_and(|phase| !forming.contains(&phase));
    for occasion in turns(&OF_CLUSTER, formed, &old.conditions, &new.conditions) {
        context.herald.tell_of(after, &occasion);
    }
    // Later on it keeps the cluster from being Ready, and is told with that.
    if let Some(occasion) = stuck(ConditionType::InfrastructureReady, &new.conditions).filter(|_| !formed) {
        context.herald.say_of(after, &occasion);
    }
    if old.primary != new.primary
        && let Some(primary) = &new.primary
    {
        let message = match &old.primary {
            Some(before) => format!("clients are served by {primary}; before by {before}"),
            None => format!("clients are served by {primary}"),
        };
        context.herald.tell_of(after, &Occasion { tone: Tone::Normal, reason: "PrimaryChanged", message });
    }
    if old.last_request != new.last_request
        && let Some(request) = &new.last_request
        // That it was accepted or refused is said by whoever did so, also of a request that no status tells of.
        && !["Accepted", "Refused"].contains(&request.result.as_str())
    {
        let tone = if request.result == "Done" { Tone::Normal } else { Tone::Warning };
        let message = format!("{} {}: {}: {}", request.action, request.id, request.result, request.message);
        context.herald.tell_of(after, &Occasion { tone, reason: "RequestEnded", message });
    }
}

/// Says what changed for a Member since this was told.
pub fn of_member(context: &Context, old: &MemberTold, after: &Member) {
    let new = after.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    for occasion in turns(&OF_MEMBER, old.joined, &old.conditions, new) {
        context.herald.tell_of(after, &occasion);
    }
    if let Some(occasion) = stuck(ConditionType::WorkloadReady, new) {
        context.herald.say_of(after, &occasion);
    }
}

/// What keeps something from being made, in words. It may be judged again at each try, so it is no turn: it is said once.
fn stuck(kind: ConditionType, conditions: &[Condition]) -> Option<Occasion> {
    let found = get(conditions, kind).filter(|found| found.status == "False")?;
    let message = format!("{kind} is False: {}", found.message);
    let known = STUCK.iter().any(|reason| found.reason == reason.as_str());
    known.then_some(Occasion { tone: Tone::Warning, reason: kind.as_str(), message })
}

/// The conditions that turned, in words. What is `Unknown` is not news: it is what a new generation begins with. Nor is that
/// something is well again that was never said not to be, `Ready` apart; nor, while a cluster is formed, that it is not yet.
fn turns(
    kinds: &[(ConditionType, &str)],
    formed: bool,
    old: &[Condition],
    new: &[Condition],
) -> Vec<Occasion> {
    let turned = kinds.iter().filter_map(|(kind, bad)| {
        let now = get(new, *kind)?;
        let before = get(old, *kind).map(|before| before.status.as_str());
        let is_bad = now.status == *bad;
        let news = match now.status.as_str() {
            "Unknown" => false,
            same if before == Some(same) => false,
            _ if is_bad => formed || !WHILE_FORMING.contains(kind),
            _ => {
                before == Some(*bad)
                    || *kind == ConditionType::Ready
                    || (bad.is_empty() && before != Some("Unknown"))
            }
        };
        if !news || (before.is_none() && !is_bad && *kind != ConditionType::Ready) {
            return None;
        }
        let tone = if is_bad { Tone::Warning } else { Tone::Normal };
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
        let said = turns(&OF_CLUSTER, true, from_ref(&valid), from_ref(&invalid));
        assert_eq!(
            said.iter().map(|one| (one.tone, one.reason)).collect::<Vec<_>>(),
            [(Tone::Warning, "SpecValid")]
        );
        assert!(turns(&OF_CLUSTER, true, from_ref(&invalid), from_ref(&invalid)).is_empty());
        assert_eq!(turns(&OF_CLUSTER, true, &[invalid], from_ref(&valid))[0].tone, Tone::Normal);
        assert!(
            turns(&OF_CLUSTER, true, &[], &[valid]).is_empty(),
            "that all is well from the start is no news"
        );
    }

    #[test]
    fn what_is_not_known_is_not_news() {
        let ready = condition(ConditionType::Ready, "True", "AsDesired");
        let unknown = condition(ConditionType::Ready, "Unknown", "Reconciling");
        assert!(turns(&OF_CLUSTER, true, &[ready], &[unknown]).is_empty());
    }
}
