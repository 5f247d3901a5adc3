//! Names, how they read back, and whose an object is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::limits;
use proptest::prelude::*;

use super::super::owners;
use super::*;

#[test]
fn the_name_of_a_member_reads_one_way_only() {
    assert_eq!(naming::parse_member("orders-a-0"), Some(("orders", "a", 0)));
    assert_eq!(naming::parse_member("my-orders-a-9999"), Some(("my-orders", "a", 9999)));
    for other in [
        "orders",
        "orders-a",
        "orders-a-",
        "orders-a-01",
        "orders-a-10000",
        "orders-a-+1",
        "-a-1",
        "orders--1",
    ] {
        assert_eq!(naming::parse_member(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn what_was_named_is_read(cluster in "[a-z]([-a-z0-9]{0,28}[a-z0-9])?", pool in "[a-z0-9]{1,15}", ordinal in 0u32..10_000) {
        let name = naming::member(&cluster, &pool, ordinal);
        prop_assert_eq!(naming::parse_member(&name), Some((cluster.as_str(), pool.as_str(), ordinal)));
        prop_assert!(name.len() <= limits::MEMBER_NAME_MAX as usize);
    }
}

/// Services and Pods have names of at most 63 characters, a claim or a Secret of 253.
#[test]
fn the_longest_names_fit() {
    let cluster = "c".repeat(limits::CLUSTER_NAME_MAX as usize);
    let member = "m".repeat(limits::MEMBER_NAME_MAX as usize);
    let label = "l".repeat(limits::DNS_LABEL_MAX as usize);
    for name in [
        naming::client_service(&cluster),
        naming::replicas_service(&cluster),
        naming::members_service(&cluster),
        naming::pod(&member),
        naming::config_map(&cluster, "0123456789ab"),
    ] {
        assert!(name.len() <= 63, "{name}");
    }
    for name in [
        naming::driver(&cluster, &label),
        naming::account_secret(&cluster, &label),
        naming::agent_secret(&member),
        naming::claim(&member),
        naming::agent_ca(&cluster),
    ] {
        assert!(name.len() <= 253, "{name}");
    }
}

#[test]
fn a_member_of_a_pool_is_told_from_one_made_by_hand() {
    let member = wanted();
    assert_eq!(naming::ordinal(&member), Some(0));
    let mut by_hand = member.clone();
    by_hand.metadata.labels = None;
    assert_eq!(naming::ordinal(&by_hand), None, "it carries no label of a pool");
    let mut elsewhere = member;
    elsewhere.spec.pool = "b".into();
    assert_eq!(naming::ordinal(&elsewhere), None);
}

fn meta(labels: &[(&str, &str)], controller: Option<&str>) -> ObjectMeta {
    read(json!({
        "name": "orders",
        "labels": labels.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
        "ownerReferences": controller.map(|uid| json!([
            {"apiVersion": "v1", "kind": "Thing", "name": "other", "uid": uid, "controller": true}
        ])).unwrap_or(json!([])),
    }))
}

#[test]
fn an_object_is_ours_by_its_labels_and_its_controller() {
    const CLUSTER: (&str, &str) = ("muster.dev/cluster", "orders");
    let wanted = meta(&[CLUSTER], Some("1"));
    assert_eq!(owners::taken(&wanted, &meta(&[CLUSTER, ("app", "x")], Some("1"))), None);
    assert_eq!(
        owners::taken(&wanted, &meta(&[CLUSTER], None)),
        None,
        "a reference that was taken away is put back"
    );
    assert_eq!(owners::taken(&wanted, &meta(&[], Some("1"))), None, "and so is a label");
    let said = |found: &ObjectMeta| owners::taken(&wanted, found).unwrap();
    assert_eq!(said(&meta(&[], None)), "its label muster.dev/cluster is none, not orders");
    assert_eq!(
        said(&meta(&[("muster.dev/cluster", "x")], Some("1"))),
        "its label muster.dev/cluster is x, not orders"
    );
    assert_eq!(
        said(&meta(&[CLUSTER, ("muster.dev/member", "orders-a-0")], None)),
        "its label muster.dev/member is orders-a-0, not none"
    );
    assert_eq!(said(&meta(&[CLUSTER], Some("2"))), "it is controlled by Thing other");
    let claim = meta(&[CLUSTER], None);
    assert!(
        owners::taken(&claim, &meta(&[CLUSTER], Some("2"))).is_some(),
        "a claim that someone else controls"
    );
}

#[test]
fn nothing_is_owned_before_its_owner_is_stored() {
    let mut cluster = cluster();
    assert!(owners::by_cluster(&cluster).is_some());
    cluster.metadata.uid = None;
    assert_eq!(owners::by_cluster(&cluster), None);
}
