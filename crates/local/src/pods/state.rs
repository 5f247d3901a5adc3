//! What is known of a Pod's containers, and what its status says of it.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;
use serde_json::{Value, json};

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) signal: Option<i32>,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) started: Timestamp,
    pub(super) at: Timestamp,
    pub(super) run: u32,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It waits, for this reason.
    Waiting(&'static str, String),
    Running(Timestamp),
    Ended(Ended),
}

/// A container, as far as its status goes.
#[derive(Clone, Debug)]
pub(super) struct ContainerState {
    pub(super) doing: Doing,
    pub(super) before: Option<Ended>,
    /// How often it was started again; also the number of its run.
    pub(super) restarts: u32,
    pub(super) started: bool,
    pub(super) ready: bool,
}

impl ContainerState {
    /// As it was left by an earlier run of this node.
    pub(super) fn recalled(pod: &Pod, name: &str) -> Self {
        let status = pod.status.as_ref();
        let init = status.and_then(|status| status.init_container_statuses.as_ref());
        let main = status.and_then(|status| status.container_statuses.as_ref());
        let known = init.into_iter().chain(main).flatten().find(|known| known.name == name);
        let mut state = Self {
            doing: Doing::Waiting("PodInitializing", String::new()),
            before: None,
            restarts: 0,
            started: false,
            ready: false,
        };
        let Some(known) = known else { return state };
        let ran = known.state.as_ref().and_then(|state| state.running.as_ref()?.started_at.clone());
        let ended = known
            .state
            .as_ref()
            .and_then(|state| state.terminated.as_ref())
            .or_else(|| known.last_state.as_ref().and_then(|state| state.terminated.as_ref()));
        let now = Timestamp::now();
        let run = known.restart_count.max(0).unsigned_abs();
        state.restarts = run;
        if let Some(Time(started)) = ran {
            // It died with the node: what was left of an earlier run was ended before this one began.
            state.restarts = run + 1;
            let (reason, message) = ("NodeRestart".to_owned(), "the node was started again".to_owned());
            state.before = Some(Ended { code: 137, signal: Some(9), reason, message, started, at: now, run });
        } else if let Some(ended) = ended {
            state.restarts = run + u32::from(ended.exit_code != 0);
            let time = |time: &Option<Time>| time.as_ref().map_or(now, |time| time.0);
            state.before = Some(Ended {
                code: ended.exit_code,
                signal: ended.signal,
                reason: ended.reason.clone().unwrap_or_default(),
                message: ended.message.clone().unwrap_or_default(),
                started: time(&ended.started_at),
                at: time(&ended.finished_at),
                run,
            });
        }
        state
    }

    fn status(&self, pod: &Pod, spec: &Container) -> Value {
        let uid = pod.uid().unwrap_or_default();
        let id = |run: u32| format!("muster://{uid}/{}/{run}", spec.name);
        let ended = |ended: &Ended| {
            json!({"terminated": without_nothing(json!({
                "exitCode": ended.code, "signal": ended.signal, "reason": ended.reason, "message": ended.message,
                "startedAt": time(ended.started), "finishedAt": time(ended.at), "containerID": id(ended.run),
            }))})
        };
        let state = match &self.doing {
            Doing::Waiting(reason, message) => {
                json!({"waiting": without_nothing(json!({"reason": reason, "message": message}))})
            }
            Doing::Running(since) => json!({"running": {"startedAt": time(*since)}}),
            Doing::Ended(end) => ended(end),
        };
        let has_run = self.restarts > 0 || !matches!(self.doing, Doing::Waiting(..));
        json!({
            "name": spec.name, "image": spec.image.as_deref().unwrap_or_default(), "imageID": "",
            "containerID": if has_run { Value::from(id(self.restarts)) } else { Value::Null },
            "restartCount": self.restarts, "ready": self.ready, "started": self.started,
            "state": state, "lastState": self.before.as_ref().map_or_else(|| json!({}), ended),
        })
    }
}

/// All that a Pod's status is made of.
pub(super) struct PodState {
    pub(super) address: String,
    pub(super) began: Timestamp,
    pub(super) initialised: bool,
    pub(super) init: Vec<ContainerState>,
    pub(super) containers: Vec<ContainerState>,
}

impl PodState {
    /// The status, with the times of conditions that did not change kept from the one before.
    pub(super) fn status(&self, pod: &Pod) -> Value {
        let spec = pod.spec.clone().unwrap_or_default();
        let init = spec.init_containers.unwrap_or_default();
        let of = |specs: &[Container], states: &[ContainerState]| -> Vec<Value> {
            specs.iter().zip(states).map(|(spec, state)| state.status(pod, spec)).collect()
        };
        let ready = self.initialised && self.containers.iter().all(|container| container.ready);
        let conditions: Vec<Value> = [
            ("PodScheduled", true),
            ("PodReadyToStartContainers", true),
            ("Initialized", self.initialised),
            ("ContainersReady", ready),
            ("Ready", ready),
        ]
        .into_iter()
        .map(|(kind, is)| condition(pod, kind, is))
        .collect();
        json!({
            "phase": self.phase(spec.restart_policy.as_deref()), "podIP": self.address, "podIPs": [{"ip": self.address}],
            "hostIP": crate::node::ADDRESS, "hostIPs": [{"ip": crate::node::ADDRESS}], "startTime": time(self.began),
            "conditions": conditions, "initContainerStatuses": of(&init, &self.init),
            "containerStatuses": of(&spec.containers, &self.containers), "qosClass": "BestEffort",
        })
    }

    /// A Pod has ended when all its containers have, and none is to be started again.
    fn phase(&self, policy: Option<&str>) -> &'static str {
        let all = &self.containers;
        let stays = |container: &ContainerState| match (&container.doing, policy) {
            (Doing::Ended(end), Some("Never")) => Some(end.code),
            (Doing::Ended(end), Some("OnFailure")) if end.code == 0 => Some(0),
            _ => None,
        };
        if !all.is_empty() && all.iter().all(|container| stays(container).is_some()) {
            let well = all.iter().all(|container| stays(container) == Some(0));
            return if well { "Succeeded" } else { "Failed" };
        }
        let begun = |container: &ContainerState| {
            container.restarts > 0 || !matches!(container.doing, Doing::Waiting(..))
        };
        if self.initialised && all.iter().any(begun) { "Running" } else { "Pending" }
    }
}

fn condition(pod: &Pod, kind: &str, is: bool) -> Value {
    let status = if is { "True" } else { "False" };
    let before = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut same = before.filter(|before| before.type_ == kind && before.status == status);
    let since = same.find_map(|before| before.last_transition_time.clone());
    let since = since.map_or_else(|| time(Timestamp::now()), |since| time(since.0));
    let generation = pod.metadata.generation;
    json!({"type": kind, "status": status, "lastTransitionTime": since, "observedGeneration": generation})
}

/// A time as Kubernetes writes it: whole seconds.
fn time(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// Without the fields that say nothing.
fn without_nothing(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
    }
    object
}
