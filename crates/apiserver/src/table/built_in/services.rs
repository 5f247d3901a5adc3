//! Services.

use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ServiceSpec;
use serde_json::Value;

use super::Printer;
use super::cells::{NONE, age, labels, list, name, number, text};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

pub(super) static SERVICES: Printer = Printer::new(
    &[
        NAME,
        Column::text("Type", Says::Field(schema::<ServiceSpec>, "type")),
        Column::text("Cluster-IP", Says::Field(schema::<ServiceSpec>, "clusterIP")),
        Column::text("External-IP", Says::Field(schema::<ServiceSpec>, "externalIPs")),
        Column::text("Port(s)", Says::Field(schema::<ServiceSpec>, "ports")),
        AGE,
        Column::wide("Selector", Says::Field(schema::<ServiceSpec>, "selector")),
    ],
    row,
);

fn row(service: &Value, now: Timestamp) -> Row {
    let inside = list(service, "/spec/clusterIPs").first().and_then(Value::as_str).unwrap_or(NONE);
    vec![
        name(service),
        text(service, "/spec/type").into(),
        inside.into(),
        outside(service).into(),
        ports(service).into(),
        age(service, now),
        labels(service, "/spec/selector").into(),
    ]
    .into()
}

/// Where it is reached from outside.
fn outside(service: &Value) -> String {
    let given = list(service, "/spec/externalIPs").iter().filter_map(Value::as_str);
    let balanced = || {
        let entry = list(service, "/status/loadBalancer/ingress").iter();
        entry
            .map(|entry| {
                Some(text(entry, "/ip")).filter(|ip| !ip.is_empty()).unwrap_or(text(entry, "/hostname"))
            })
            .filter(|address| !address.is_empty())
            .collect::<BTreeSet<&str>>()
    };
    let (all, otherwise): (Vec<&str>, _) = match text(service, "/spec/type") {
        "ClusterIP" | "NodePort" => (given.collect(), NONE),
        "LoadBalancer" => (balanced().into_iter().chain(given).collect(), "<pending>"),
        "ExternalName" => return text(service, "/spec/externalName").to_owned(),
        _ => return "<unknown>".to_owned(),
    };
    if all.is_empty() { otherwise.to_owned() } else { all.join(",") }
}

fn ports(service: &Value) -> String {
    let written = list(service, "/spec/ports").iter().map(|port| {
        let (own, protocol) = (number(port, "/port"), text(port, "/protocol"));
        match number(port, "/nodePort") {
            0 => format!("{own}/{protocol}"),
            on_nodes => format!("{own}:{on_nodes}/{protocol}"),
        }
    });
    let all: Vec<String> = written.collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(",") }
}
