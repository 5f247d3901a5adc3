//! Nodes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{NodeStatus, NodeSystemInfo};
use serde_json::Value;

use super::Printer;
use super::cells::{NONE, age, list, name, text, text_or};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

pub(super) static NODES: Printer = Printer::new(
    &[
        NAME,
        Column::text("Status", Says::Words("The status of the node")),
        Column::text("Roles", Says::Words("The roles of the node")),
        AGE,
        Column::text("Version", Says::Field(schema::<NodeSystemInfo>, "kubeletVersion")),
        Column::wide("Internal-IP", Says::Field(schema::<NodeStatus>, "addresses")),
        Column::wide("External-IP", Says::Field(schema::<NodeStatus>, "addresses")),
        Column::wide("OS-Image", Says::Field(schema::<NodeSystemInfo>, "osImage")),
        Column::wide("Kernel-Version", Says::Field(schema::<NodeSystemInfo>, "kernelVersion")),
        Column::wide("Container-Runtime", Says::Field(schema::<NodeSystemInfo>, "containerRuntimeVersion")),
    ],
    row,
);

const UNKNOWN: &str = "<unknown>";

fn row(node: &Value, now: Timestamp) -> Row {
    let info = |field: &str| text_or(node, &format!("/status/nodeInfo/{field}"), UNKNOWN).to_owned();
    let kernel = match text(node, "/status/nodeInfo/architecture") {
        "" => info("kernelVersion"),
        machine => format!("{} ({machine})", info("kernelVersion")),
    };
    vec![
        name(node),
        status(node).into(),
        roles(node).into(),
        age(node, now),
        text(node, "/status/nodeInfo/kubeletVersion").into(),
        address(node, "InternalIP").into(),
        address(node, "ExternalIP").into(),
        info("osImage").into(),
        kernel.into(),
        info("containerRuntimeVersion").into(),
    ]
    .into()
}

fn status(node: &Value) -> String {
    // The last of a type counts.
    let ready = list(node, "/status/conditions").iter().rev().find(|condition| condition["type"] == "Ready");
    let said = match ready {
        None => "Unknown",
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
    };
    let closed = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    if closed { format!("{said},SchedulingDisabled") } else { said.to_owned() }
}

/// The roles, which are labels.
fn roles(node: &Value) -> String {
    let labels = node.pointer("/metadata/labels").and_then(Value::as_object);
    let role = |(label, value): (&String, &Value)| match label.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None if label == "kubernetes.io/role" => value.as_str().map(str::to_owned),
        None => None,
    };
    let roles: BTreeSet<String> =
        labels.into_iter().flatten().filter_map(role).filter(|role| !role.is_empty()).collect();
    if roles.is_empty() { NONE.to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

fn address<'a>(node: &'a Value, kind: &str) -> &'a str {
    let found = list(node, "/status/addresses").iter().find(|address| address["type"] == kind);
    found.map_or(NONE, |address| text(address, "/address"))
}
