//! A pod in one word: what its containers, its phase and its end come to.

use serde_json::Value;

use super::cells::{has_condition, is_ending, list, number, text};

/// What a pod comes to.
pub(super) struct Summary<'a> {
    pub(super) reason: String,
    pub(super) ready: usize,
    pub(super) containers: usize,
    pub(super) restarts: i64,
    /// When the last container that was started anew had ended.
    pub(super) last_restart: Option<&'a str>,
}

/// The restarts of some containers.
#[derive(Clone, Copy, Default)]
struct Restarts<'a> {
    count: i64,
    last: Option<&'a str>,
}

impl<'a> Restarts<'a> {
    fn add(&mut self, container: &'a Value) {
        self.count += number(container, "/restartCount");
        let ended = text(container, "/lastState/terminated/finishedAt");
        // Times of the API are all in UTC and in one form, so that their order is that of their text.
        if !ended.is_empty() && self.last.is_none_or(|last| last < ended) {
            self.last = Some(ended);
        }
    }
}

impl<'a> Summary<'a> {
    pub(super) fn of(pod: &'a Value) -> Self {
        let sidecars: Vec<&str> = list(pod, "/spec/initContainers")
            .iter()
            .filter(|container| container["restartPolicy"] == "Always")
            .map(|container| text(container, "/name"))
            .collect();
        let mut start = Start::of(pod, &sidecars);
        let mut reason = start.reason.take().unwrap_or_else(|| phase(pod));
        let mut restarts = start.restarts;
        let mut ready = start.ready;
        if !start.initializing || has_condition(pod, "Initialized") {
            restarts = start.sidecar_restarts;
            let main = Main::of(pod, &mut restarts);
            ready += main.ready;
            reason = main.reason(pod, reason);
        }
        let ended = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
        if is_ending(pod) && text(pod, "/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut reason);
        } else if is_ending(pod) && !ended {
            "Terminating".clone_into(&mut reason);
        }
        let containers = list(pod, "/spec/containers").len() + sidecars.len();
        Self { reason, ready, containers, restarts: restarts.count, last_restart: restarts.last }
    }
}

/// What the pod says of itself, containers apart.
fn phase(pod: &Value) -> String {
    let mut conditions = list(pod, "/status/conditions").iter();
    let gated = conditions
        .any(|condition| condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated");
    let known = |path: &str| Some(text(pod, path)).filter(|text| !text.is_empty());
    let said = known("/status/reason").unwrap_or_else(|| text(pod, "/status/phase"));
    if gated { "SchedulingGated".to_owned() } else { said.to_owned() }
}

/// The containers that go before the others, up to the first that is not through.
struct Start<'a> {
    initializing: bool,
    reason: Option<String>,
    ready: usize,
    restarts: Restarts<'a>,
    sidecar_restarts: Restarts<'a>,
}

impl<'a> Start<'a> {
    fn of(pod: &'a Value, sidecars: &[&str]) -> Self {
        let mut start = Self {
            initializing: false,
            reason: None,
            ready: 0,
            restarts: Restarts::default(),
            sidecar_restarts: Restarts::default(),
        };
        let planned = list(pod, "/spec/initContainers").len();
        for (place, container) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
            let sidecar = sidecars.contains(&text(container, "/name"));
            start.restarts.add(container);
            if sidecar {
                start.sidecar_restarts.add(container);
            }
            let terminated = container.pointer("/state/terminated");
            if terminated.is_some_and(|ended| number(ended, "/exitCode") == 0) {
                continue;
            }
            if sidecar && container["started"] == true {
                start.ready += usize::from(container["ready"] == true);
                continue;
            }
            let waiting = text(container, "/state/waiting/reason");
            start.initializing = true;
            start.reason = Some(match terminated {
                Some(ended) => format!("Init:{}", ending(ended)),
                None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
                None => format!("Init:{place}/{planned}"),
            });
            break;
        }
        start
    }
}

/// The containers themselves.
#[derive(Default)]
struct Main {
    ready: usize,
    reason: Option<String>,
    error: Option<String>,
}

impl Main {
    fn of<'a>(pod: &'a Value, restarts: &mut Restarts<'a>) -> Self {
        let mut main = Self::default();
        // From the last to the first, so that the first that has something to say has the word.
        for container in list(pod, "/status/containerStatuses").iter().rev() {
            restarts.add(container);
            let waiting = text(container, "/state/waiting/reason");
            if !waiting.is_empty() {
                main.reason = Some(waiting.to_owned());
            } else if let Some(ended) = container.pointer("/state/terminated") {
                let said = ending(ended);
                if number(ended, "/exitCode") != 0 {
                    main.error = Some(said.clone());
                }
                main.reason = Some(said);
            } else if container["ready"] == true && container.pointer("/state/running").is_some() {
                main.ready += 1;
            }
        }
        main
    }

    /// One that is through does not make the pod so while others run.
    fn reason(self, pod: &Value, before: String) -> String {
        let reason = self.reason.unwrap_or(before);
        match (reason.as_str(), self.ready > 0, self.error) {
            ("Completed", true, _) if has_condition(pod, "Ready") => "Running".to_owned(),
            ("Completed", _, Some(error)) => error,
            ("Completed", true, None) => "NotReady".to_owned(),
            _ => reason,
        }
    }
}

/// How a container ended.
fn ending(ended: &Value) -> String {
    match (text(ended, "/reason"), number(ended, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(ended, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
