//! What is wrong with a Service.

use std::collections::HashSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::cluster_ip::{NONE, is_headless};
use super::fields::{at, given, list, number, shown, text};
use super::node_ports::has_health_port;
use super::service::{is_external, is_external_name};
use super::template::check_port;
use super::{names, selector};
use crate::schema::{FieldError, Path};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const TRAFFIC_POLICIES: [&str; 2] = ["Cluster", "Local"];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
/// One day: no client stays longer with a Pod.
const MAX_STICKY_SECONDS: i64 = 86400;

/// Checks a Service to which everything has been allocated.
pub(super) fn check_service(spec: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("spec");
    let kind = text(spec, "type");
    if list(spec, "ports").is_empty() && !is_headless(spec) && !is_external_name(spec) {
        errors.push(FieldError::required(&path.child("ports"), ""));
    }
    check_type(spec, kind, &path, errors);
    check_ports(spec, &path.child("ports"), errors);
    selector::check_labels(spec, "selector", &path.child("selector"), errors);
    check_affinity(spec, &path, errors);
    check_addresses(spec, errors);
    check_external_addresses(spec, &path.child("externalIPs"), errors);
    if !TYPES.contains(&kind) {
        errors.push(names::not_one_of(&path.child("type"), kind, &TYPES));
    }
    check_node_ports(spec, kind, &path.child("ports"), errors);
    check_balancer(spec, kind, &path, errors);
    check_traffic(spec, &path, errors);
}

fn check_type(spec: &Value, kind: &str, path: &Path, errors: &mut Vec<FieldError>) {
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            let wrong = format!("may not be set to 'None' for {kind} services");
            errors.push(FieldError::invalid(&path.child("clusterIPs").index(0), NONE, wrong));
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let given = at(spec, &format!("/{field}"));
                if !given.is_null() && *given != json!([]) {
                    let wrong = "may not be set for ExternalName services";
                    errors.push(FieldError::forbidden(&path.child(field), wrong));
                }
            }
            let name = text(spec, "externalName");
            match name.strip_suffix('.').unwrap_or(name) {
                "" => errors.push(FieldError::required(&path.child("externalName"), "")),
                name => names::check(names::dns_subdomain, name, &path.child("externalName"), errors),
            }
        }
        _ => {}
    }
}

fn check_ports(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let ports = list(spec, "ports");
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            names::check(names::dns_label, name, &path.child("name"), errors);
            if !seen.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
            }
        } else if ports.len() > 1 {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        let own = number(port, "port").unwrap_or(0);
        let wrong = names::port_number(own);
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path.child("port"), own, wrong)));
        names::check_one_of(text(port, "protocol"), &PROTOCOLS, &path.child("protocol"), errors);
        check_port(given(port, "targetPort"), &path.child("targetPort"), errors);
        match text(port, "appProtocol") {
            "" => {}
            name => names::check(names::label_key, name, &path.child("appProtocol"), errors),
        }
    }
}

fn check_affinity(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let affinity = text(spec, "sessionAffinity");
    names::check_one_of(affinity, &["ClientIP", "None"], &path.child("sessionAffinity"), errors);
    let seconds = at(spec, "/sessionAffinityConfig/clientIP/timeoutSeconds").as_i64();
    if let Some(seconds) =
        seconds.filter(|seconds| affinity == "ClientIP" && !(1..=MAX_STICKY_SECONDS).contains(seconds))
    {
        let path = path.child("sessionAffinityConfig").child("clientIP").child("timeoutSeconds");
        let wrong = format!("must be greater than 0 and less than {MAX_STICKY_SECONDS}");
        errors.push(FieldError::invalid(&path, seconds, wrong));
    }
}

/// Checks addresses and families, as is also done before an address is given.
pub(super) fn check_addresses(spec: &Value, errors: &mut Vec<FieldError>) {
    if is_external_name(spec) {
        return;
    }
    let path = Path::new("spec");
    let (one, all) = (text(spec, "clusterIP"), list(spec, "clusterIPs"));
    let path_of_all = path.child("clusterIPs");
    let shown = || at(spec, "/clusterIPs").clone();
    if one.is_empty() && !all.is_empty() {
        let wrong = "must be empty when `clusterIP` is not specified";
        errors.push(FieldError::invalid(&path_of_all, shown(), wrong));
    } else if !one.is_empty() && all.is_empty() {
        errors.push(FieldError::required(&path_of_all, ""));
    } else if all.first().is_some_and(|first| first != one) {
        errors.push(FieldError::invalid(&path_of_all, shown(), "first value must match `clusterIP`"));
    }
    let mut seen = HashSet::new();
    for (index, family) in list(spec, "ipFamilies").iter().enumerate() {
        let (path, name) = (path.child("ipFamilies").index(index), family.as_str().unwrap_or(""));
        if !FAMILIES.contains(&name) {
            errors.push(names::not_one_of(&path, name, &FAMILIES));
        }
        if !seen.insert(family) {
            errors.push(FieldError::duplicate(&path, Some(family.clone())));
        }
    }
    match text(spec, "ipFamilyPolicy") {
        policy if policy.is_empty() || FAMILY_POLICIES.contains(&policy) => {}
        policy => errors.push(names::not_one_of(&path.child("ipFamilyPolicy"), policy, &FAMILY_POLICIES)),
    }
    for (index, address) in all.iter().enumerate() {
        let address = address.as_str().unwrap_or("");
        if index == 0 && address == NONE {
            if all.len() > 1 {
                let wrong = "'None' must be the first and only value";
                errors.push(FieldError::invalid(&path_of_all, shown(), wrong));
            }
            continue;
        }
        check_address(address, &path_of_all.index(index), errors);
    }
}

fn check_address(address: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if address.parse::<IpAddr>().is_err() {
        let wrong = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        errors.push(FieldError::invalid(path, address, wrong));
    }
}

/// Checks the addresses at which a balancer says that a Service can be reached.
pub(super) fn check_status(status: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("status").child("loadBalancer").child("ingress");
    for (index, ingress) in list(at(status, "/loadBalancer"), "ingress").iter().enumerate() {
        match text(ingress, "ip") {
            "" => {}
            address => check_address(address, &path.index(index).child("ip"), errors),
        }
    }
}

fn check_external_addresses(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, address) in list(spec, "externalIPs").iter().enumerate() {
        let (text, path) = (address.as_str().unwrap_or(""), path.index(index));
        let Ok(address) = text.parse::<IpAddr>() else {
            check_address(text, &path, errors);
            continue;
        };
        let wrong = if address.is_unspecified() {
            format!("may not be unspecified ({text})")
        } else if address.is_loopback() {
            "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()
        } else {
            continue;
        };
        errors.push(FieldError::invalid(&path, text, wrong));
    }
}

fn check_node_ports(spec: &Value, kind: &str, path: &Path, errors: &mut Vec<FieldError>) {
    let ports = list(spec, "ports");
    let node_port = |port: &Value| number(port, "nodePort").filter(|port| *port != 0);
    for (index, port) in ports.iter().enumerate() {
        if kind == "ClusterIP" && node_port(port).is_some() {
            let path = path.index(index).child("nodePort");
            errors.push(FieldError::forbidden(&path, "may not be used when `type` is 'ClusterIP'"));
        }
    }
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let Some(own) = node_port(port) else { continue };
        if !seen.insert((own, text(port, "protocol"))) {
            let path = path.index(index).child("nodePort");
            errors.push(FieldError::duplicate(&path, Some(own.into())));
        }
    }
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        if !seen.insert((number(port, "port"), text(port, "protocol"))) {
            let protocol = text(port, "protocol").into();
            let fields = [
                ("name", "".into()),
                ("protocol", protocol),
                ("appProtocol", Value::Null),
                ("port", number(port, "port").into()),
                ("targetPort", 0.into()),
                ("nodePort", 0.into()),
            ];
            let twice = FieldError::duplicate(&path.index(index), None);
            errors.push(twice.showing(shown(&Value::Null, &fields)));
        }
    }
}

fn check_balancer(spec: &Value, kind: &str, path: &Path, errors: &mut Vec<FieldError>) {
    let wrong = "may only be used when `type` is 'LoadBalancer'";
    let (ranges, path_of_ranges) =
        (list(spec, "loadBalancerSourceRanges"), path.child("LoadBalancerSourceRanges"));
    if kind != "LoadBalancer" && !ranges.is_empty() {
        errors.push(FieldError::forbidden(&path_of_ranges, wrong));
    }
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or("");
        let said = names::range_of_addresses(range.trim());
        errors.extend(said.map(|said| FieldError::invalid(&path_of_ranges.index(index), range, said)));
    }
    if kind == "LoadBalancer" {
        if let Some(class) = given(spec, "loadBalancerClass").and_then(Value::as_str) {
            names::check(names::label_key, class, &path.child("loadBalancerClass"), errors);
        }
        return;
    }
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if given(spec, field).is_some() {
            errors.push(FieldError::forbidden(&path.child(field), wrong));
        }
    }
}

fn check_traffic(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (policy, path_of_policy) = (text(spec, "externalTrafficPolicy"), path.child("externalTrafficPolicy"));
    if is_external(spec) {
        names::check_one_of(policy, &TRAFFIC_POLICIES, &path_of_policy, errors);
    } else if !policy.is_empty() {
        let wrong = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid(&path_of_policy, policy, wrong));
    }
    let port = number(spec, "healthCheckNodePort").unwrap_or(0);
    if port != 0 && !has_health_port(spec) {
        let wrong = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(FieldError::invalid(&path.child("healthCheckNodePort"), port, wrong));
    }
    match text(spec, "internalTrafficPolicy") {
        policy if policy.is_empty() || TRAFFIC_POLICIES.contains(&policy) => {}
        policy => {
            errors.push(names::not_one_of(&path.child("internalTrafficPolicy"), policy, &TRAFFIC_POLICIES));
        }
    }
    if let Some(wish) = given(spec, "trafficDistribution").and_then(Value::as_str)
        && !DISTRIBUTIONS.contains(&wish)
    {
        errors.push(names::not_one_of(&path.child("trafficDistribution"), wish, &DISTRIBUTIONS));
    }
}

/// Says what was changed that cannot be.
pub(super) fn check_changes(spec: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if is_external_name(spec) || is_external_name(old) || (is_headless(spec) && is_headless(old)) {
        return;
    }
    let (new, old) = (list(spec, "clusterIPs"), list(old, "clusterIPs"));
    let path = Path::new("spec").child("clusterIPs").index(0);
    if !old.is_empty() && new.is_empty() {
        let wrong = "primary clusterIP can not be unset";
        errors.push(FieldError::invalid(&path, at(spec, "/clusterIPs").clone(), wrong));
    } else if old.first() != new.first() {
        errors.push(FieldError::invalid(&path, at(spec, "/clusterIPs").clone(), "may not change once set"));
    }
}
