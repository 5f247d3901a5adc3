//! Every answer that a look can give.

use super::*;
use serde_json::{Value, json};

fn cluster(generation: i64, status: &Value) -> ReplicatedCluster {
    let object = json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": "shop", "generation": generation},
        "spec": {"engine": {"name": "ledger"}, "pools": []},
        "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn condition(kind: &str, status: &str, generation: Option<i64>) -> Value {
    let mut condition = json!({"type": kind, "status": status, "reason": "MemberNotReady", "message": "orders-a-1 starts",
        "lastTransitionTime": "2026-01-01T00:00:00Z"});
    if let Some(generation) = generation {
        condition["observedGeneration"] = json!(generation);
    }
    condition
}

fn ready(generation: i64, observed: i64, at: i64, status: &str) -> Verdict {
    let status =
        json!({"observedGeneration": observed, "conditions": [condition("Ready", status, Some(at))]});
    Goal::Ready.judge(&cluster(generation, &status))
}

#[test]
fn r1_2_ready_is_about_this_very_generation() {
    assert_eq!(ready(5, 5, 5, "True"), Verdict::Met("is ready at generation 5".to_owned()));
    assert!(
        matches!(ready(5, 4, 4, "True"), Verdict::NotYet(why) if why.contains("generation 4, the spec is at 5"))
    );
    assert!(matches!(ready(5, 5, 4, "True"), Verdict::NotYet(_)), "the condition is an old one");
    let why = "Ready is False (MemberNotReady): orders-a-1 starts";
    assert_eq!(ready(5, 5, 5, "False"), Verdict::NotYet(why.to_owned()));
    assert!(matches!(ready(5, 5, 5, "Unknown"), Verdict::NotYet(_)));
    assert!(matches!(Goal::Ready.judge(&cluster(1, &json!({}))), Verdict::NotYet(_)));
}

#[test]
fn r1_5_a_status_ahead_of_its_spec_is_looked_at_again() {
    assert!(matches!(ready(4, 5, 5, "True"), Verdict::Stale(_)));
    assert!(matches!(ready(5, 5, 6, "True"), Verdict::Stale(_)));
}

#[test]
fn a_condition_is_waited_for_at_the_newest_generation() {
    let goal: Goal = "condition=healthy".parse().unwrap();
    let look = |at| {
        goal.judge(&cluster(
            3,
            &json!({"observedGeneration": 3, "conditions": [condition("Healthy", "True", at)]}),
        ))
    };
    assert!(matches!(look(Some(3)), Verdict::Met(_)));
    assert!(matches!(look(Some(2)), Verdict::NotYet(_)));
    assert!(matches!(look(Some(4)), Verdict::Stale(_)));
    assert!(matches!(look(None), Verdict::Met(_)), "then it is about what status is about");
    let goal: Goal = "condition=Available=unknown".parse().unwrap();
    assert_eq!(goal.to_string(), "Available=Unknown");
}

#[test]
fn what_cannot_come_is_said_at_once() {
    let mut deleting = cluster(1, &json!({}));
    deleting.metadata.deletion_timestamp = Some(muster_api::Time(jiff::Timestamp::UNIX_EPOCH));
    assert!(matches!(Goal::Ready.judge(&deleting), Verdict::Never(_)));
    assert!(matches!(Goal::Deleted.judge(&deleting), Verdict::NotYet(_)));
    assert!(matches!(Goal::Deleted.judge_deleted(), Verdict::Met(_)));
    assert!(matches!(Goal::Deleted.judge_absent(), Verdict::Met(_)));
    assert!(matches!(Goal::Ready.judge_deleted(), Verdict::Never(_)));
    assert!(matches!(Goal::Ready.judge_absent(), Verdict::Never(_)));
}

#[test]
fn what_would_never_come_is_no_goal() {
    for text in ["", "Ready", "condition=", "condition=Joined", "condition=Ready=Yes", "jsonpath={.status}"] {
        assert!(text.parse::<Goal>().is_err(), "{text}");
    }
}
