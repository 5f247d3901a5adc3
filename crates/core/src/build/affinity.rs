//! Where a member may run: its zone and its `nodeAffinity`, both.

use k8s_openapi::api::core::v1::{
    Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
};
use muster_api::names::LABEL_ZONE;

/// The affinity of a Pod. Terms are alternatives, so the zone is added to each. A term without expressions matches no node
/// and stays one: with a zone it would match all of them.
pub(super) fn affinity(zone: Option<&str>, node_affinity: Option<&NodeAffinity>) -> Option<Affinity> {
    let mut node = node_affinity.cloned().unwrap_or_default();
    if let Some(zone) = zone {
        let required =
            node.required_during_scheduling_ignored_during_execution.get_or_insert_with(|| NodeSelector {
                node_selector_terms: vec![NodeSelectorTerm {
                    match_expressions: Some(vec![in_zone(zone)]),
                    match_fields: None,
                }],
            });
        for term in &mut required.node_selector_terms {
            let matches_nothing = term.match_expressions.as_ref().is_none_or(Vec::is_empty)
                && term.match_fields.as_ref().is_none_or(Vec::is_empty);
            let expressions = term.match_expressions.get_or_insert_default();
            if !matches_nothing && !expressions.contains(&in_zone(zone)) {
                expressions.push(in_zone(zone));
            }
            if expressions.is_empty() {
                term.match_expressions = None;
            }
        }
    }
    let given = node.required_during_scheduling_ignored_during_execution.is_some()
        || node.preferred_during_scheduling_ignored_during_execution.as_ref().is_some_and(|p| !p.is_empty());
    given.then(|| Affinity { node_affinity: Some(node), ..Affinity::default() })
}

fn in_zone(zone: &str) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: LABEL_ZONE.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![zone.to_owned()]),
    }
}
