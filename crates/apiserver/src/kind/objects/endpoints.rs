//! `Endpoints`, which nobody should use any more.

use serde_json::Value;

use super::addresses;
use super::fields::{check_choice, check_form, fill_text, list, something, text};
use crate::kind::Particular;
use crate::kind::metadata::{label, label_key, subdomain};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const LISTS: [&str; 2] = ["addresses", "notReadyAddresses"];
const DEPRECATED: &str = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

/// What is particular to `Endpoints`.
#[derive(Debug)]
pub(super) struct Endpoints;

impl Particular for Endpoints {
    fn default(&self, object: &mut Value) {
        let subsets = object.get_mut("subsets").and_then(Value::as_array_mut).into_iter().flatten();
        for subset in subsets {
            let ports = subset.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten();
            ports.filter_map(Value::as_object_mut).for_each(|port| fill_text(port, "protocol", "TCP"));
        }
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if old.is_some_and(|old| something(old.get("subsets")) == something(object.get("subsets"))) {
            return errors;
        }
        for (index, subset) in list(object, "/subsets").iter().enumerate() {
            check_subset(&Path::new("subsets").index(index), subset, &mut errors);
        }
        errors
    }

    fn deprecation(&self) -> Option<&'static str> {
        Some(DEPRECATED)
    }

    fn warnings(&self, object: &Value, _: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        let manager = object.pointer("/metadata/labels/endpoints.kubernetes.io~1managed-by");
        if manager.and_then(Value::as_str) == Some("endpoint-controller") {
            return warnings;
        }
        for (index, subset) in list(object, "/subsets").iter().enumerate() {
            for field in LISTS {
                for (at, address) in list(subset, &format!("/{field}")).iter().enumerate() {
                    let path = Path::new("subsets").index(index).child(field).index(at).child("ip");
                    warnings.extend(addresses::warning(&path, text(address, "/ip")));
                }
            }
        }
        warnings
    }
}

fn check_subset(path: &Path, subset: &Value, errors: &mut Vec<FieldError>) {
    if LISTS.iter().all(|field| list(subset, &format!("/{field}")).is_empty()) {
        errors.push(FieldError::required(path, "must specify `addresses` or `notReadyAddresses`"));
    }
    for field in LISTS {
        for (index, address) in list(subset, &format!("/{field}")).iter().enumerate() {
            check_address(&path.child(field).index(index), address, errors);
        }
    }
    let ports = list(subset, "/ports");
    for (index, port) in ports.iter().enumerate() {
        check_port(&path.child("ports").index(index), port, ports.len() > 1, errors);
    }
}

fn check_address(path: &Path, address: &Value, errors: &mut Vec<FieldError>) {
    let ip = text(address, "/ip");
    addresses::check(&path.child("ip"), ip, errors);
    let host = text(address, "/hostname");
    if !host.is_empty() {
        check_form(&path.child("hostname"), host, label(host), errors);
    }
    if let Some(node) = address.get("nodeName").and_then(Value::as_str) {
        check_form(&path.child("nodeName"), node, subdomain(node), errors);
    }
    addresses::check_endpoint(&path.child("ip"), ip, errors);
}

fn check_port(path: &Path, port: &Value, needs_name: bool, errors: &mut Vec<FieldError>) {
    match text(port, "/name") {
        "" if needs_name => errors.push(FieldError::required(&path.child("name"), "")),
        "" => {}
        name => check_form(&path.child("name"), name, label(name), errors),
    }
    let number = port.get("port").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=65535).contains(&number) {
        let detail = "must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.child("port"), number, detail));
    }
    match text(port, "/protocol") {
        "" => errors.push(FieldError::required(&path.child("protocol"), "")),
        protocol => check_choice(&path.child("protocol"), protocol, &PROTOCOLS, errors),
    }
    if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
        check_form(&path.child("appProtocol"), protocol, label_key(protocol), errors);
    }
}
