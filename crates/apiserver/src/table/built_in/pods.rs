//! Pods.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PodSpec, PodStatus};
use serde_json::{Value, json};

use super::Printer;
use super::cells::{NONE, age, list, name, text, text_or};
use super::pod_status::Summary;
use crate::table::Row;
use crate::table::age::since;
use crate::table::column::{AGE, Column, NAME, Says, schema};

pub(super) static PODS: Printer = Printer::new(
    &[
        NAME,
        Column::text(
            "Ready",
            Says::Words("The aggregate readiness state of this pod for accepting traffic."),
        ),
        Column::text("Status", Says::Words("The aggregate status of the containers in this pod.")),
        Column::text(
            "Restarts",
            Says::Words(
                "The number of times the containers in this pod have been restarted and when the last container in \
                 this pod has restarted.",
            ),
        ),
        AGE,
        Column::wide("IP", Says::Field(schema::<PodStatus>, "podIP")),
        Column::wide("Node", Says::Field(schema::<PodSpec>, "nodeName")),
        Column::wide("Nominated Node", Says::Field(schema::<PodStatus>, "nominatedNodeName")),
        Column::wide("Readiness Gates", Says::Field(schema::<PodSpec>, "readinessGates")),
    ],
    row,
);

fn row(pod: &Value, now: Timestamp) -> Row {
    let summary = Summary::of(pod);
    let restarts = match summary.last_restart {
        Some(last) if summary.restarts != 0 => {
            format!("{} ({} ago)", summary.restarts, since(last, now))
        }
        _ => summary.restarts.to_string(),
    };
    let cells = vec![
        name(pod),
        format!("{}/{}", summary.ready, summary.containers).into(),
        summary.reason.into(),
        restarts.into(),
        age(pod, now),
        text_or(pod, "/status/podIPs/0/ip", NONE).into(),
        text_or(pod, "/spec/nodeName", NONE).into(),
        text_or(pod, "/status/nominatedNodeName", NONE).into(),
        gates(pod).into(),
    ];
    Row { cells, conditions: done(text(pod, "/status/phase")) }
}

/// How many of the conditions that the pod waits for are true.
fn gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let is_true = |gate: &&Value| {
        let mut conditions = list(pod, "/status/conditions").iter();
        let condition = conditions.find(|condition| condition["type"] == gate["conditionType"]);
        condition.is_some_and(|condition| condition["status"] == "True")
    };
    format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
}

/// By this `kubectl` knows what it need not show.
fn done(phase: &str) -> Option<Value> {
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
}
