//! What admission gives a Pod: tolerations, a priority; and the class of its quality of service.

use serde_json::{Value, json};

use super::claim::forbidden;
use super::fields::{at, fill, given, inner, is_true, list, number, set, text};
use super::template::totals;
use crate::error::ApiError;
use crate::kind::Around;
use crate::lifecycle::metadata;

/// How long a Pod stays on a node that is lost.
const SECONDS_ON_A_LOST_NODE: i64 = 300;
const LOST: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const CLASSES: &str = "scheduling.k8s.io/priorityclasses";
/// The classes that every cluster has.
const BUILT_IN: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
const PREEMPT: &str = "PreemptLowerPriority";

/// A Pod bears a node that is not ready, or cannot be reached, for a while.
pub(super) fn default_tolerations(spec: &mut Value) {
    let mut tolerations = list(spec, "tolerations").to_vec();
    let count = tolerations.len();
    for taint in LOST {
        let bears = |toleration: &Value| {
            matches!(text(toleration, "effect"), "" | "NoExecute")
                && (text(toleration, "key").is_empty() || text(toleration, "key") == taint)
        };
        if !tolerations[..count].iter().any(bears) {
            tolerations.push(json!({
                "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS_ON_A_LOST_NODE,
            }));
        }
    }
    if tolerations.len() > count {
        set(spec, "tolerations", tolerations);
    }
}

/// Sets the priority of a new Pod by the name of its class, or by the class of Pods that name none.
pub(super) fn priority(object: &mut Value, around: &dyn Around) -> Result<(), ApiError> {
    let pod = metadata::text(object, "name").to_owned();
    let spec = inner(object, "spec");
    let name = text(spec, "priorityClassName").to_owned();
    let (value, policy) = match name.as_str() {
        "" => default_class(spec, around),
        name => match named_class(name, around) {
            Some(class) => class,
            None => {
                return Err(forbidden("pods", &pod, &format!("no PriorityClass with name {name} was found")));
            }
        },
    };
    if let Some(given) = number(spec, "priority").filter(|given| *given != value) {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed \
             {value} from the given PriorityClass name"
        );
        return Err(forbidden("pods", &pod, &why));
    }
    let given = text(spec, "preemptionPolicy");
    if !given.is_empty() && given != policy {
        let why = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller \
             computed {policy} from the given PriorityClass name"
        );
        return Err(forbidden("pods", &pod, &why));
    }
    set(spec, "priority", value);
    set(spec, "preemptionPolicy", policy);
    Ok(())
}

fn read(class: &Value) -> (i64, String) {
    let policy = given(class, "preemptionPolicy").and_then(Value::as_str).unwrap_or(PREEMPT);
    (number(class, "value").unwrap_or(0), policy.to_owned())
}

fn named_class(name: &str, around: &dyn Around) -> Option<(i64, String)> {
    let known = BUILT_IN.iter().find(|(known, _)| *known == name);
    let stored = || around.get(CLASSES, "", name).map(|class| read(&class));
    known.map(|(_, value)| (*value, PREEMPT.to_owned())).or_else(stored)
}

/// Of the classes for Pods that name none the one with the lowest value; its name is written down.
fn default_class(spec: &mut Value, around: &dyn Around) -> (i64, String) {
    let classes = around.list(CLASSES);
    let default =
        classes.iter().filter(|class| is_true(class, "globalDefault")).min_by_key(|class| read(class).0);
    default.map_or_else(
        || (0, PREEMPT.to_owned()),
        |class| {
            set(spec, "priorityClassName", metadata::text(class, "name"));
            read(class)
        },
    )
}

/// An update that leaves out what admission had set does not change it.
pub(super) fn same_priority(spec: &mut Value, old: &Value) {
    for field in ["priority", "preemptionPolicy"] {
        if let Some(value) = given(old, field) {
            fill(spec, field, value.clone());
        }
    }
}

/// The class of a Pod's quality of service.
pub(super) fn quality(spec: &Value) -> &'static str {
    let whole = given(spec, "resources").map(std::slice::from_ref);
    let containers: Vec<&Value> = match whole {
        Some(_) => vec![spec],
        None => list(spec, "containers").iter().chain(list(spec, "initContainers")).collect(),
    };
    let of = |which: &str| {
        let pointer = format!("/resources/{which}");
        let mut all = totals(containers.iter().map(|container| at(container, &pointer)));
        all.retain(|name, amount| matches!(name.as_str(), "cpu" | "memory") && amount.sign().is_gt());
        all
    };
    let (requests, limits) = (of("requests"), of("limits"));
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let is_limited = |container: &&Value| {
        let own = totals(std::iter::once(at(container, "/resources/limits")));
        ["cpu", "memory"].iter().all(|name| own.get(*name).is_some_and(|amount| amount.sign().is_gt()))
    };
    if containers.iter().all(is_limited) && requests == limits { "Guaranteed" } else { "Burstable" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(requests: &Value, limits: &Value) -> Value {
        json!({"resources": {"requests": requests, "limits": limits}})
    }

    #[test]
    fn quality_follows_from_what_containers_ask_for() {
        let both = json!({"cpu": "1", "memory": "1Gi"});
        let same = container(&both, &json!({"cpu": "1000m", "memory": "1024Mi"}));
        let part = container(&json!({"cpu": "1"}), &json!({}));
        assert_eq!(quality(&json!({"containers": [same.clone()]})), "Guaranteed");
        assert_eq!(quality(&json!({"containers": [same, part]})), "Burstable");
        assert_eq!(quality(&json!({"containers": [{"resources": {}}]})), "BestEffort");
        assert_eq!(
            quality(&json!({"containers": [container(&json!({"cpu": "0"}), &json!({}))]})),
            "BestEffort"
        );
    }
}
