//! Whether one object is ready, by the same gates as the operator's; of a kind that cannot be ready or not, nothing.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::names::ConditionType;
use muster_api::{Member, ReplicatedCluster};
use muster_core::generation::{self, Applied, Gate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What can be said of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Readiness {
    /// `True`, `False`, `Unknown`, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ready: Option<&'static str>,
    /// The generation that its controller has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observed_generation: Option<i64>,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) why: String,
}

/// What can be said of this object.
pub(super) fn readiness(kind: &str, object: &Value) -> Readiness {
    let observed_generation = object.pointer("/status/observedGeneration").and_then(Value::as_i64);
    let deleting = object.pointer("/metadata/deletionTimestamp").is_some();
    let gate = match kind {
        "ReplicatedCluster" => of(object, |cluster: &ReplicatedCluster, applied| {
            let status = cluster.status.clone().unwrap_or_default();
            generation::sub_resource(
                &cluster.metadata,
                status.observed_generation,
                &status.conditions,
                ConditionType::Ready,
                applied,
            )
        }),
        "Member" => of(object, |member: &Member, applied| {
            let status = member.status.clone().unwrap_or_default();
            generation::sub_resource(
                &member.metadata,
                status.observed_generation,
                &status.conditions,
                ConditionType::Ready,
                applied,
            )
        }),
        "StatefulSet" => of(object, generation::stateful_set),
        "Deployment" => of(object, generation::deployment),
        "DaemonSet" => of(object, generation::daemon_set),
        "ReplicaSet" => Some(counts(object, "/spec/replicas", "/status/readyReplicas", "ready")),
        "PodDisruptionBudget" => {
            Some(counts(object, "/status/desiredHealthy", "/status/currentHealthy", "healthy"))
        }
        "Pod" => Some(pod(object)),
        "PersistentVolumeClaim" => Some(claim(object)),
        _ => None,
    };
    let (ready, why) = match gate {
        _ if deleting => (Some("False"), "is being deleted".to_owned()),
        Some(gate) => (Some(gate.truth().as_str()), gate.reason().unwrap_or_default().to_owned()),
        None => (None, String::new()),
    };
    Readiness { ready, observed_generation, why }
}

/// Asks a gate. What is found is taken for what was applied: the operator alone knows better.
fn of<K>(object: &Value, gate: impl Fn(&K, Option<&Applied>) -> Gate) -> Option<Gate>
where
    K: DeserializeOwned + k8s_metadata::HasMeta,
{
    let typed: K = serde_json::from_value(object.clone()).ok()?;
    let metadata: &ObjectMeta = typed.metadata();
    let applied = Applied {
        uid: metadata.uid.clone().unwrap_or_default(),
        generation: metadata.generation.unwrap_or(0),
    };
    Some(gate(&typed, Some(&applied)))
}

/// The metadata of any object, whoever made its type.
mod k8s_metadata {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    pub(super) trait HasMeta {
        fn metadata(&self) -> &ObjectMeta;
    }

    impl<K: kube::Resource> HasMeta for K {
        fn metadata(&self) -> &ObjectMeta {
            self.meta()
        }
    }
}

fn counts(object: &Value, wanted: &str, found: &str, what: &str) -> Gate {
    let number = |path: &str| object.pointer(path).and_then(Value::as_i64);
    let (wanted, found) = (number(wanted).unwrap_or(1), number(found).unwrap_or(0));
    if found >= wanted {
        Gate::Ready
    } else {
        Gate::NotYet { reason: format!("has {found} of {wanted} {what}") }
    }
}

fn pod(object: &Value) -> Gate {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    if ready.is_some_and(|condition| condition["status"] == "True") {
        return Gate::Ready;
    }
    let phase = object.pointer("/status/phase").and_then(Value::as_str).unwrap_or("Unknown");
    let containers = object.pointer("/status/containerStatuses").and_then(Value::as_array);
    let waiting =
        containers.into_iter().flatten().find_map(|status| status.pointer("/state/waiting/reason")?.as_str());
    Gate::NotYet { reason: format!("is {}", waiting.unwrap_or(phase)) }
}

fn claim(object: &Value) -> Gate {
    match object.pointer("/status/phase").and_then(Value::as_str) {
        Some("Bound") => Gate::Ready,
        phase => Gate::NotYet { reason: format!("is {}", phase.unwrap_or("Unknown")) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(kind: &str, object: &Value) -> (Option<&'static str>, String) {
        let found = readiness(kind, object);
        (found.ready, found.why)
    }

    #[test]
    fn a_workload_is_ready_at_its_own_generation_only() {
        let set = |observed: i64| {
            json!({"metadata": {"uid": "u", "generation": 3}, "spec": {"replicas": 1, "selector": {}, "template": {}},
                "status": {"observedGeneration": observed, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1}})
        };
        assert_eq!(said("StatefulSet", &set(3)), (Some("True"), String::new()));
        assert_eq!(said("StatefulSet", &set(2)), (Some("False"), "has observed generation 2 of 3".into()));
        assert_eq!(said("StatefulSet", &set(4)).0, Some("Unknown"));
    }

    #[test]
    fn a_pod_says_what_it_waits_for() {
        let waiting = json!({"status": {"phase": "Pending",
            "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}});
        assert_eq!(said("Pod", &waiting), (Some("False"), "is ImagePullBackOff".into()));
        let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        assert_eq!(said("Pod", &ready).0, Some("True"));
    }

    #[test]
    fn what_cannot_be_ready_says_nothing_and_what_goes_says_so() {
        assert_eq!(said("Secret", &Value::Null), (None, String::new()));
        let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        assert_eq!(said("Service", &going), (Some("False"), "is being deleted".into()));
        assert_eq!(said("PersistentVolumeClaim", &json!({"status": {"phase": "Bound"}})).0, Some("True"));
    }
}
