//! The page as a person sees it.

use jiff::Timestamp;
use muster_api::{Member, ReplicatedCluster};
use serde_json::{Value, json};

use super::{Facts, list, page};
use crate::access::{Knowledge, Operator};
use crate::print::Paint;

fn now() -> Timestamp {
    "2026-01-01T01:00:00Z".parse().unwrap()
}

fn operator(knowledge: Knowledge) -> Operator {
    Operator { namespace: "muster-system".into(), holder: Some("op-1".into()), knowledge, now: now() }
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message, "observedGeneration": 2,
        "lastTransitionTime": "2026-01-01T00:50:00Z"})
}

fn cluster(status: &Value) -> ReplicatedCluster {
    let object = json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
        "metadata": {"name": "orders", "namespace": "shop", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"engine": {"name": "ledger", "version": "1"}, "pools": []}, "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn member(name: &str, status: &Value) -> Member {
    let object = json!({
        "apiVersion": "muster.dev/v1alpha1", "kind": "Member", "metadata": {"name": name, "generation": 1},
        "spec": {"clusterName": "orders", "pool": "a"}, "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn ready(status: &str) -> Value {
    json!({"type": "Ready", "status": status, "reason": "AsDesired", "message": "", "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:50:00Z"})
}

fn facts(status: &Value, members: Vec<Member>) -> Facts {
    let knowledge = Knowledge::Current { age_seconds: 3 };
    Facts { operator: operator(knowledge), cluster: cluster(status), members, namespace: None }
}

fn shown(facts: &Facts) -> String {
    page::page(facts, false, Paint::new(false))
}

#[test]
fn a_cluster_that_is_well() {
    let status = json!({
        "observedGeneration": 2, "phase": "Running", "reason": "AsDesired", "membersReady": "2/2", "syncedReplicas": 2,
        "currentVersion": "1", "targetVersion": "1", "endpoint": {"host": "orders.shop", "port": 3306},
        "conditions": [condition("Ready", "True", "AsDesired", "live"), condition("Healthy", "True", "AsDesired", "well")],
    });
    let members = vec![
        member(
            "orders-a-0",
            &json!({"observedGeneration": 1, "role": "primary", "currentState": "Enabled",
            "sequence": 12, "freeStorage": "9Gi", "conditions": [ready("True")]}),
        ),
        member(
            "orders-a-1",
            &json!({"observedGeneration": 1, "role": "secondary", "currentState": "Enabled",
            "sequence": 7, "conditions": [ready("True")]}),
        ),
    ];
    let page = shown(&facts(&status, members));
    let expected = "\
Cluster:    orders in namespace shop
Operator:   running (op-1, seen 3s ago)
Phase:      Running (AsDesired)
Why:        everything is as the spec asks
Spec:       generation 2 is live
Engine:     ledger 1
Endpoint:   orders.shop:3306
Members:    2/2 ready, 2 synced

Conditions
  TYPE      STATUS   SINCE   REASON      MESSAGE
  Ready     True     10m     AsDesired   live
  Healthy   True     10m     AsDesired   well

Members
  NAME         ROLE        STATE     READY   SEQUENCE   LAG      FREE   WHY
  orders-a-0   primary     Enabled   True    12         -        9Gi    -
  orders-a-1   secondary   Enabled   True    7          synced   -      -
";
    assert_eq!(page, expected);
}

#[test]
fn a_recovery_that_is_blocked_says_who_is_missing_and_what_to_do() {
    let unblock = "kubectl muster fence orders orders-a-1 # only when you made sure that none of them runs";
    let status = json!({
        "observedGeneration": 2, "phase": "Recovering", "reason": "Blocked",
        "conditions": [condition("Ready", "False", "NoPrimary", "nobody serves")],
        "recovery": {"state": "Blocked", "blockedBy": "MemberMissing", "expected": ["orders-a-0", "orders-a-1"],
            "missing": ["orders-a-1"], "unblock": unblock, "digest": "d",
            "reported": [{"member": "orders-a-0", "term": "5.1", "sequence": 40, "empty": false}]},
    });
    let mut facts = facts(&status, vec![]);
    facts.namespace = Some("shop".into());
    let page = shown(&facts);
    assert!(page.contains("  Blocked by MemberMissing\n  missing: orders-a-1\n"), "{page}");
    assert!(page.contains("orders-a-0   data        5.1    40"), "{page}");
    assert!(page.contains("orders-a-1   not heard\n"), "{page}");
    assert!(page.contains("  kubectl muster fence orders orders-a-1 -n shop # only when"), "{page}");
}

#[test]
fn an_operator_that_does_not_run_is_said_first() {
    let mut facts = facts(&json!({"observedGeneration": 1, "phase": "Running"}), vec![]);
    facts.operator = operator(Knowledge::Stale { age_seconds: Some(7200) });
    let page = shown(&facts);
    let second = page.lines().nth(1).unwrap();
    assert!(second.contains("operator not running: what follows is as of 120m ago or older"), "{second}");
    assert!(page.contains("generation 2 is not applied: all below is about generation 1"), "{page}");
    assert!(page.contains("start the operator"), "{page}");
}

#[test]
fn who_is_behind_is_named_and_a_number_only_where_it_stands_still() {
    let status = json!({"conditions": [condition("Healthy", "False", "NotSynced", "orders-a-1 is not synced; x is slow")]});
    let is = |role: &str, sequence: i64| json!({"role": role, "sequence": sequence, "history": "h"});
    let members = vec![
        member("orders-a-0", &is("primary", 50)),
        member("orders-a-1", &is("secondary", 3)),
        member("orders-a-10", &is("secondary", 3)),
        member("orders-a-2", &json!({"sequence": 44, "history": "h"})),
        member("orders-a-3", &json!({"sequence": 44, "history": "other"})),
    ];
    let page = shown(&facts(&status, members));
    let lag = |name: &str| {
        let line = page.lines().find(|line| line.starts_with(&format!("  {name} "))).unwrap().to_owned();
        ["at least 6 behind", "behind", "synced", "not known"].into_iter().find(|word| line.contains(word))
    };
    assert_eq!(lag("orders-a-0"), None);
    assert_eq!(lag("orders-a-1"), Some("behind"));
    assert_eq!(lag("orders-a-10"), Some("synced"));
    assert_eq!(lag("orders-a-2"), Some("at least 6 behind"));
    assert_eq!(lag("orders-a-3"), Some("not known"));
}

#[test]
fn the_list_believes_no_condition_of_another_generation() {
    let mut one = condition("Ready", "True", "AsDesired", "");
    one["observedGeneration"] = json!(1);
    let status = json!({"phase": "Running", "membersReady": "2/2", "conditions": [one]});
    let text = list::list(&[cluster(&status)], true, now(), Paint::new(false));
    assert_eq!(
        text,
        "NAMESPACE   NAME     PHASE     READY     AVAILABLE   HEALTHY   PRIMARY   MEMBERS   REASON   AGE\n\
         shop        orders   Running   Unknown   Unknown     Unknown   -         2/2       -        60m\n"
    );
}
