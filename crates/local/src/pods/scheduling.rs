//! Which Pods fit this node. It is the only one, so there is nothing to weigh.

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, PersistentVolumeClaim, Pod,
};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

use crate::control::{Error, bounded};

/// Gives the Pod this node, or says why it cannot.
pub(super) async fn schedule(client: &Client, pod: &Pod, node: &Node) -> Result<(), Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let name = pod.name_any();
    if let Some(obstacle) = obstacle(client, pod, node).await? {
        return refuse(&pods, pod, obstacle).await;
    }
    let target = json!({"apiVersion": "v1", "kind": "Node", "name": node.name_any()});
    let metadata = json!({"name": name, "uid": pod.uid()});
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target});
    let params = PostParams::default();
    match bounded(pods.create_subresource::<_, Value>("binding", &name, &params, &binding)).await {
        // Someone else was faster, or it is gone.
        Err(error) if matches!(error.code(), Some(404 | 409)) => Ok(()),
        bound => bound.map(drop),
    }
}

/// Why the Pod cannot have this node now.
async fn obstacle(client: &Client, pod: &Pod, node: &Node) -> Result<Option<String>, Error> {
    if !fits(pod, node) {
        return Ok(Some(format!(
            "the one node, {}, has not the labels that this Pod asks for: kubectl label node {0} KEY=VALUE",
            node.name_any()
        )));
    }
    // A claim that ends waits for every Pod that has a node: one that got a node now would wait for it in turn, for ever.
    let claims: Api<PersistentVolumeClaim> =
        Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    for claim in volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref()) {
        let name = &claim.claim_name;
        match bounded(claims.get_opt(name)).await? {
            None => return Ok(Some(format!("persistentvolumeclaim \"{name}\" not found"))),
            Some(claim) if claim.metadata.deletion_timestamp.is_some() => {
                return Ok(Some(format!("persistentvolumeclaim \"{name}\" is being deleted")));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Says in the Pod's status why it waits, unless it says so already.
async fn refuse(pods: &Api<Pod>, pod: &Pod, message: String) -> Result<(), Error> {
    let mut known = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    if known.any(|condition| condition.message.as_ref() == Some(&message)) {
        return Ok(());
    }
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastTransitionTime": jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).ok(),
    });
    let patch = json!({"status": {"phase": "Pending", "conditions": [condition]}});
    bounded(pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(&patch)))
        .await
        .map(drop)
}

/// Whether the node has what the Pod's selector and its required affinity ask for.
fn fits(pod: &Pod, node: &Node) -> bool {
    let Some(spec) = &pod.spec else { return false };
    let selected =
        spec.node_selector.iter().flatten().all(|(key, value)| node.labels().get(key) == Some(value));
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required = affinity.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref());
    selected && required.is_none_or(|it| it.node_selector_terms.iter().any(|term| matches(term, node)))
}

/// An empty term matches nothing.
fn matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels: Vec<_> = term.match_expressions.iter().flatten().collect();
    let fields: Vec<_> = term.match_fields.iter().flatten().collect();
    let name = node.name_any();
    let by_label = |it: &&NodeSelectorRequirement| meets(it, node.labels().get(&it.key).map(String::as_str));
    let by_field = |it: &&NodeSelectorRequirement| it.key == "metadata.name" && meets(it, Some(&name));
    !(labels.is_empty() && fields.is_empty()) && labels.iter().all(by_label) && fields.iter().all(by_field)
}

fn meets(wanted: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let listed = || value.is_some_and(|value| wanted.values.iter().flatten().any(|one| one == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let limit = wanted.values.iter().flatten().next().and_then(|text| number(text));
    match wanted.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => value.and_then(number).zip(limit).is_some_and(|(value, limit)| value > limit),
        "Lt" => value.and_then(number).zip(limit).is_some_and(|(value, limit)| value < limit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_with(spec: Value) -> bool {
        let mut spec = spec;
        spec["containers"] = json!([]);
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        let labels = json!({"zone": "a", "size": "5"});
        let node: Node =
            serde_json::from_value(json!({"metadata": {"name": "here", "labels": labels}})).unwrap();
        fits(&pod, &node)
    }

    fn fits_affinity(terms: &Value) -> bool {
        let required =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        fits_with(json!({"affinity": {"nodeAffinity": required}}))
    }

    #[test]
    fn selectors_and_affinities_are_what_they_are_elsewhere() {
        assert!(fits_with(json!({})));
        assert!(fits_with(json!({"nodeSelector": {"zone": "a"}})));
        assert!(!fits_with(json!({"nodeSelector": {"zone": "b"}})));
        let one = |key: &str, operator: &str, values: &[&str]| {
            fits_affinity(
                &json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]),
            )
        };
        assert!(one("zone", "In", &["b", "a"]) && !one("zone", "In", &["b"]) && !one("other", "In", &["a"]));
        assert!(
            one("zone", "NotIn", &["b"]) && !one("zone", "NotIn", &["a"]) && one("other", "NotIn", &["a"])
        );
        assert!(
            one("zone", "Exists", &[]) && !one("other", "Exists", &[]) && one("other", "DoesNotExist", &[])
        );
        assert!(one("size", "Gt", &["4"]) && !one("size", "Gt", &["5"]) && one("size", "Lt", &["6"]));
        assert!(!fits_affinity(&json!([{}])), "an empty term matches nothing");
        let field =
            json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["here"]}]}]);
        assert!(fits_affinity(&field));
    }
}
