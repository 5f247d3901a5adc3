//! Nodes.

use std::collections::HashSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::fields::{at, fill, fill_number, given, inner, list, set, shown, text, with};
use super::names;
use super::template::{check_effect, round_up};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// A node is not ready until it says so.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// What a node says of itself; "" until it does.
const INFO: [&str; 10] = [
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
];

/// What is particular to Nodes.
#[derive(Debug)]
pub(super) struct Node;

impl Particular for Node {
    fn default(&self, object: &mut Value) {
        default_ranges(inner(object, "spec"));
        let status = inner(object, "status");
        if let (None, Some(capacity)) = (given(status, "allocatable"), given(status, "capacity").cloned()) {
            set(status, "allocatable", capacity);
        }
        with(status, "capacity", round_up);
        with(status, "allocatable", round_up);
        fill_number(inner(inner(status, "daemonEndpoints"), "kubeletEndpoint"), "Port", 0);
        let info = inner(status, "nodeInfo");
        for field in INFO {
            fill(info, field, "");
        }
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        match (part, old) {
            (Part::Whole, None) => add_not_ready(inner(object, "spec")),
            (Part::Whole, Some(old)) => set(object, "status", at(old, "/status").clone()),
            _ => {}
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        // The server looks for taints in the wrong place.
        let path = Path::new("metadata").child("taints");
        check_taints(list(at(object, "/spec"), "taints"), &path, &mut errors);
        check_ranges(list(at(object, "/spec"), "podCIDRs"), &mut errors);
        if let Some(old) = old {
            check_changes(object, old, &mut errors);
            if part == Part::Whole {
                check_taints(list(at(object, "/spec"), "taints"), &path, &mut errors);
            }
        }
        errors
    }
}

/// The range of Pods is said twice, alone and as the first of several; the one that is alone counts.
fn default_ranges(spec: &mut Value) {
    let alone = text(spec, "podCIDR").to_owned();
    match list(spec, "podCIDRs").first().cloned() {
        Some(first) if alone.is_empty() => set(spec, "podCIDR", first),
        first if !alone.is_empty() && first.as_ref().and_then(Value::as_str) != Some(&alone) => {
            set(spec, "podCIDRs", vec![alone]);
        }
        _ => {}
    }
}

fn check_ranges(ranges: &[Value], errors: &mut Vec<FieldError>) {
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or_default();
        if !is_range(range) {
            let path = Path::new("spec").child("podCIDRs").index(index);
            let wrong = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            errors.push(FieldError::invalid(&path, range, wrong));
        }
    }
}

fn is_range(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    bits.bytes().all(|c| c.is_ascii_digit()) && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

fn add_not_ready(spec: &mut Value) {
    let mut taints = list(spec, "taints").to_vec();
    let is_known = |taint: &Value| text(taint, "key") == NOT_READY && text(taint, "effect") == "NoSchedule";
    if !taints.iter().any(is_known) {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
        set(spec, "taints", taints);
    }
}

fn check_taints(taints: &[Value], path: &Path, errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let path = path.index(index);
        names::check(names::label_key, text(taint, "key"), &path.child("key"), errors);
        let wrong = names::label_value(text(taint, "value"));
        if !wrong.is_empty() {
            let path = path.child("value");
            errors.push(FieldError::invalid(&path, text(taint, "value"), wrong.join(";")));
        }
        check_effect(text(taint, "effect"), &path.child("effect"), errors);
        if !seen.insert((text(taint, "key"), text(taint, "effect"))) {
            let fields =
                [("key", "".into()), ("value", "".into()), ("effect", "".into()), ("timeAdded", Value::Null)];
            let mut duplicate = FieldError::duplicate(&path, None).showing(shown(taint, &fields));
            "taints must be unique by key and effect pair".clone_into(&mut duplicate.detail);
            errors.push(duplicate);
        }
    }
}

fn check_changes(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    for (index, address) in list(at(object, "/status"), "addresses").iter().enumerate() {
        if !seen.insert(address) {
            let path = Path::new("status").child("addresses").index(index);
            errors.push(FieldError::duplicate(&path, Some(address.clone())));
        }
    }
    let (spec, old) = (at(object, "/spec"), at(old, "/spec"));
    let path = Path::new("spec");
    let had_ranges = !list(old, "podCIDRs").is_empty();
    if had_ranges && list(old, "podCIDRs") != list(spec, "podCIDRs") {
        let wrong = "node updates may not change podCIDR except from \"\" to valid";
        errors.push(FieldError::forbidden(&path.child("podCIDRs"), wrong));
    }
    let had_id = !text(old, "providerID").is_empty();
    if had_id && text(old, "providerID") != text(spec, "providerID") {
        let wrong = "node updates may not change providerID except from \"\" to valid";
        errors.push(FieldError::forbidden(&path.child("providerID"), wrong));
    }
}
