//! Sizes, seen without a server.

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use serde_json::{Value, json};

use super::sizes::{Sets, resize, roll, stop_old};
use super::spec::Wish;

fn deployment(replicas: i32, surge: i32, unavailable: i32) -> Deployment {
    let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    let spec = json!({"replicas": replicas, "strategy": strategy, "selector": {}, "template": {}});
    serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec})).unwrap()
}

/// A `ReplicaSet` with so many Pods, of which so many are available, sized when so many were wanted.
fn set(name: &str, size: i32, available: i32, desired: i32) -> ReplicaSet {
    let annotations = json!({
        "deployment.kubernetes.io/desired-replicas": desired.to_string(),
        "deployment.kubernetes.io/max-replicas": (desired + 1).to_string(),
    });
    let object: Value = json!({
        "metadata": {"name": name, "annotations": annotations}, "spec": {"replicas": size, "selector": {}},
        "status": {"replicas": size, "availableReplicas": available},
    });
    serde_json::from_value(object).unwrap()
}

fn sets(old: &[ReplicaSet], new: ReplicaSet) -> Sets {
    Sets { new: Some(new), old: old.to_vec() }
}

#[test]
fn a_rollout_never_goes_below_or_above_its_bounds() {
    let wanted = deployment(3, 1, 0);
    let wish = Wish::of(&wanted).unwrap();
    let moves = |old: ReplicaSet, new: ReplicaSet| roll(wish, &sets(&[old], new));
    assert_eq!(moves(set("a", 3, 3, 3), set("b", 0, 0, 3)), [("b".to_owned(), 1)]);
    assert_eq!(moves(set("a", 3, 3, 3), set("b", 1, 0, 3)), []);
    assert_eq!(moves(set("a", 3, 3, 3), set("b", 1, 1, 3)), [("a".to_owned(), 2)]);
    assert_eq!(moves(set("a", 2, 2, 3), set("b", 1, 1, 3)), [("b".to_owned(), 2)]);
    // What does not serve goes at once.
    assert_eq!(moves(set("a", 3, 1, 3), set("b", 1, 1, 3)), [("a".to_owned(), 2)]);
    let wanted = deployment(3, 0, 0);
    let wish = Wish::of(&wanted).unwrap();
    assert_eq!(roll(wish, &sets(&[set("a", 3, 3, 3)], set("b", 0, 0, 3))), [("a".to_owned(), 2)]);
}

#[test]
fn a_new_number_is_shared_in_proportion() {
    let wanted = deployment(8, 1, 0);
    let wish = Wish::of(&wanted).unwrap();
    let halfway = sets(&[set("a", 3, 3, 4)], set("b", 2, 0, 4));
    assert!(halfway.is_resized(wish));
    assert_eq!(resize(wish, &halfway), [("a".to_owned(), 5), ("b".to_owned(), 4)]);
    let settled = sets(&[set("a", 0, 0, 4)], set("b", 4, 4, 4));
    assert_eq!(resize(wish, &settled), [("b".to_owned(), 8)]);
    assert_eq!(stop_old(&halfway), [("a".to_owned(), 0)]);
}
