//! Zone and `nodeAffinity` both hold, whatever the affinity says.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm};
use proptest::prelude::*;

use super::super::affinity::affinity;
use super::*;

type Node = BTreeMap<String, String>;

/// As the scheduler reads it: expressions of a term all hold, one term suffices, an empty term holds nowhere.
fn admits(affinity: Option<&NodeAffinity>, node: &Node) -> bool {
    let Some(required) =
        affinity.and_then(|a| a.required_during_scheduling_ignored_during_execution.as_ref())
    else {
        return true;
    };
    required.node_selector_terms.iter().any(|term| {
        let expressions: Vec<_> = term.match_expressions.iter().flatten().collect();
        !expressions.is_empty() && expressions.iter().all(|one| holds(one, node))
    })
}

fn holds(one: &NodeSelectorRequirement, node: &Node) -> bool {
    let value = node.get(&one.key);
    let listed = value.is_some_and(|value| one.values.iter().flatten().any(|other| other == value));
    match one.operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => value.is_some(),
        _ => value.is_none(),
    }
}

fn terms() -> impl Strategy<Value = Vec<NodeSelectorTerm>> {
    let key = prop_oneof![Just("disk"), Just("topology.kubernetes.io/zone")];
    let operator = prop_oneof![Just("In"), Just("NotIn"), Just("Exists"), Just("DoesNotExist")];
    let expression = (key, operator, prop_oneof![Just("z"), Just("x")]).prop_map(|(key, operator, value)| {
        NodeSelectorRequirement {
            key: key.into(),
            operator: operator.into(),
            values: ["In", "NotIn"].contains(&operator).then(|| vec![value.to_owned()]),
        }
    });
    let term = prop::collection::vec(expression, 0..3)
        .prop_map(|all| NodeSelectorTerm { match_expressions: Some(all), match_fields: None });
    prop::collection::vec(term, 1..4)
}

fn node() -> impl Strategy<Value = Node> {
    let label = prop::option::of(prop_oneof![Just("z"), Just("x")]);
    (label.clone(), label).prop_map(|(disk, zone)| {
        let labels = [("disk", disk), ("topology.kubernetes.io/zone", zone)];
        labels.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned()))).collect()
    })
}

proptest! {
    #[test]
    fn a_node_is_admitted_if_both_admit_it(terms in prop::option::of(terms()), node in node(), zone in prop::option::of(Just("z"))) {
        let own: Option<NodeAffinity> = terms.map(|terms| read(json!({
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
        })));
        let both = affinity(zone, own.as_ref()).and_then(|affinity| affinity.node_affinity);
        let in_zone = zone.is_none_or(|zone| node.get("topology.kubernetes.io/zone").is_some_and(|own| own == zone));
        prop_assert_eq!(admits(both.as_ref(), &node), admits(own.as_ref(), &node) && in_zone);
    }
}

#[test]
fn without_zone_and_affinity_there_is_none() {
    assert_eq!(affinity(None, None), None);
    assert_eq!(affinity(None, Some(&NodeAffinity::default())), None);
}
