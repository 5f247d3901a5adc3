//! Endpoints and endpoint slices.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Endpoints;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use serde_json::Value;

use super::Printer;
use super::cells::{NONE, UNSET, age, list, name, number, text};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

/// How many addresses or ports are shown; the others are counted.
const SHOWN: usize = 3;

pub(super) static ENDPOINTS: Printer = Printer::new(
    &[NAME, Column::text("Endpoints", Says::Field(schema::<Endpoints>, "subsets")), AGE],
    |object, now| vec![name(object), addresses(object).into(), age(object, now)].into(),
);

pub(super) static SLICES: Printer = Printer::new(
    &[
        NAME,
        Column::text("AddressType", Says::Field(schema::<EndpointSlice>, "addressType")),
        Column::text("Ports", Says::Field(schema::<EndpointSlice>, "ports")),
        Column::text("Endpoints", Says::Field(schema::<EndpointSlice>, "endpoints")),
        AGE,
    ],
    slice,
);

fn slice(slice: &Value, now: Timestamp) -> Row {
    let ports = list(slice, "/ports").iter().map(|port| match port.get("port").and_then(Value::as_i64) {
        Some(number) => number.to_string(),
        None => port.get("name").and_then(Value::as_str).unwrap_or("*").to_owned(),
    });
    let addresses = list(slice, "/endpoints").iter().flat_map(|endpoint| list(endpoint, "/addresses"));
    let addresses = addresses.map(|address| address.as_str().unwrap_or_default().to_owned());
    vec![
        name(slice),
        text(slice, "/addressType").into(),
        some(ports.collect(), UNSET).into(),
        some(addresses.collect(), UNSET).into(),
        age(slice, now),
    ]
    .into()
}

/// All addresses that are ready, each with every port of its subset.
fn addresses(endpoints: &Value) -> String {
    let mut all = Vec::new();
    let subsets = list(endpoints, "/subsets");
    for subset in subsets {
        let hosts = list(subset, "/addresses").iter().map(|address| text(address, "/ip"));
        let ports = list(subset, "/ports");
        if ports.is_empty() {
            all.extend(hosts.clone().map(str::to_owned));
        }
        for port in ports {
            let port = number(port, "/port");
            all.extend(hosts.clone().map(|host| {
                if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
            }));
        }
    }
    some(all, if subsets.is_empty() { NONE } else { "" })
}

/// The first of them, and how many more there are.
fn some(all: Vec<String>, otherwise: &str) -> String {
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.into_iter().take(SHOWN).collect::<Vec<_>>().join(",");
    match (shown.as_str(), more) {
        ("", _) => otherwise.to_owned(),
        (_, 0) => shown,
        (shown, more) => format!("{shown} + {more} more..."),
    }
}
