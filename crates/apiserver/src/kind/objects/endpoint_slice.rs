//! `EndpointSlice`.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::addresses;
use super::endpoints::PROTOCOLS;
use super::fields::{check_choice, check_form, check_unchanged, fill, list, something, text, texts};
use crate::error::ApiError;
use crate::kind::metadata::{label, label_key, label_value, subdomain};
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
/// The limits of a slice, which are those of the API.
const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const MAX_HINTS: usize = 8;
/// Those whose addresses are well written.
const CONTROLLERS: [&str; 2] =
    ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

/// What is particular to `EndpointSlice`.
#[derive(Debug)]
pub(super) struct EndpointSlice;

impl Particular for EndpointSlice {
    fn default(&self, object: &mut Value) {
        let ports = object.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten();
        for port in ports.filter_map(Value::as_object_mut) {
            fill(port, "name", "");
            fill(port, "protocol", "TCP");
        }
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        _: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        let endpoints = object.get_mut("endpoints").and_then(Value::as_array_mut).into_iter().flatten();
        for endpoint in endpoints {
            if let Some(fields) = endpoint.as_object_mut() {
                fields.remove("deprecatedTopology");
            }
        }
        // Labels count as a change of what is wanted here.
        if let Some(old) = old
            && something(object["metadata"].get("labels")) != something(old["metadata"].get("labels"))
        {
            let generation = metadata::generation(old) + 1;
            metadata::set(object, "generation", Some(generation.into()));
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let kind = text(object, "/addressType");
        match kind {
            "" => errors.push(FieldError::required(&Path::new("addressType"), "")),
            kind => check_choice(&Path::new("addressType"), kind, &ADDRESS_TYPES, &mut errors),
        }
        check_ports(list(object, "/ports"), &mut errors);
        if !old.is_some_and(|old| something(old.get("endpoints")) == something(object.get("endpoints"))) {
            check_endpoints(list(object, "/endpoints"), kind, &mut errors);
        }
        if let Some(old) = old {
            check_unchanged(object, old, "addressType", &mut errors);
        }
        errors
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if old.is_none() && text(object, "/addressType") == "FQDN" {
            warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
        }
        let manager = text(object, "/metadata/labels/endpointslice.kubernetes.io~1managed-by");
        if CONTROLLERS.contains(&manager) {
            return warnings;
        }
        for (index, endpoint) in list(object, "/endpoints").iter().enumerate() {
            for (at, address) in texts(list(endpoint, "/addresses")).enumerate() {
                let path = Path::new("endpoints").index(index).child("addresses").index(at);
                warnings.extend(addresses::warning(&path, address));
            }
        }
        warnings
    }
}

fn check_ports(ports: &[Value], errors: &mut Vec<FieldError>) {
    let path = Path::new("ports");
    if ports.len() > MAX_PORTS {
        errors.push(FieldError::too_many(&path, ports.len(), 20_000));
        return;
    }
    let mut names = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "/name");
        if !name.is_empty() {
            check_form(&path.child("name"), name, label(name), errors);
        }
        if !names.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
        }
        check_choice(&path.child("protocol"), text(port, "/protocol"), &PROTOCOLS, errors);
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            check_form(&path.child("appProtocol"), protocol, label_key(protocol), errors);
        }
    }
}

fn check_endpoints(endpoints: &[Value], kind: &str, errors: &mut Vec<FieldError>) {
    let path = Path::new("endpoints");
    if endpoints.len() > MAX_ENDPOINTS {
        errors.push(FieldError::too_many(&path, endpoints.len(), 1000));
        return;
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        let path = path.index(index);
        let (at, all) = (path.child("addresses"), list(endpoint, "/addresses"));
        if all.is_empty() {
            errors.push(FieldError::required(&at, "must contain at least 1 address"));
        } else if all.len() > MAX_ADDRESSES {
            errors.push(FieldError::too_many(&at, all.len(), 100));
        }
        for (index, address) in texts(all).enumerate() {
            check_address(&at, index, address, kind, errors);
        }
        if let Some(node) = endpoint.get("nodeName").and_then(Value::as_str) {
            check_form(&path.child("nodeName"), node, subdomain(node), errors);
        }
        if let Some(host) = endpoint.get("hostname").and_then(Value::as_str) {
            check_form(&path.child("hostname"), host, label(host), errors);
        }
        check_hints(&path.child("hints"), endpoint.get("hints").unwrap_or(&json!({})), errors);
    }
}

fn check_address(path: &Path, index: usize, address: &str, kind: &str, errors: &mut Vec<FieldError>) {
    let (at, before) = (path.index(index), errors.len());
    match kind {
        "IPv4" => addresses::check(&at, address, errors),
        "IPv6" => addresses::check_canonical(&at, address, errors),
        "FQDN" => return check_domain(&at, address, errors),
        _ => return,
    }
    if errors.len() > before {
        return;
    }
    if addresses::is_v4(address) != (kind == "IPv4") {
        errors.push(FieldError::invalid(path, address, format!("must be an {kind} address")));
    }
    addresses::check_endpoint(&at, address, errors);
}

fn check_domain(path: &Path, name: &str, errors: &mut Vec<FieldError>) {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let found = subdomain(bare);
    let mut say = |value: &str, detail: &str| errors.push(FieldError::invalid(path, value, detail));
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !found.is_empty() {
        say(bare, &found.join(","));
    } else if !bare.contains('.') {
        say(bare, "should be a domain with at least two segments separated by dots");
    } else if let Some(part) = bare.split('.').find(|part| !label(part).is_empty()) {
        say(part, &label(part).join(","));
    }
}

fn check_hints(path: &Path, hints: &Value, errors: &mut Vec<FieldError>) {
    for (field, form) in [("forZones", label_value as fn(&str) -> Vec<String>), ("forNodes", subdomain)] {
        let (path, all) = (path.child(field), list(hints, &format!("/{field}")));
        if all.len() > MAX_HINTS {
            errors.push(FieldError::too_many(&path, all.len(), 8));
            return;
        }
        for (index, hint) in all.iter().enumerate() {
            let (at, name) = (path.index(index).child("name"), text(hint, "/name"));
            if all.iter().take(index).any(|earlier| text(earlier, "/name") == name) {
                errors.push(FieldError::duplicate(&at, Some(name.into())));
            }
            check_form(&at, name, form(name), errors);
        }
    }
}
