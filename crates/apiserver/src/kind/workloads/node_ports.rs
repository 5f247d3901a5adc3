//! The ports on all nodes that lead to a Service.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::allocation::take;
use super::fields::{at, given, inner, is_true, list, number, set, text};
use super::service::invalid;
use crate::error::{ApiError, Reason};
use crate::kind::Around;
use crate::schema::{FieldError, Path};

/// The first port, the first of those given by chance, and the last.
const FIRST: u32 = 30000;
const DYNAMIC: u32 = 30086;
const LAST: u32 = 32767;
/// After this the ports begin that a dry run shows.
const NEVER_GIVEN: u32 = 32768;
const OUT_OF_RANGE: &str = "provided port is not in the valid range. The range of valid ports is 30000-32767";
const TAKEN: &str = "provided port is already allocated";

/// Whether the ports of a Service lead there from the nodes.
pub(super) fn has_ports(spec: &Value) -> bool {
    matches!(text(spec, "type"), "NodePort" | "LoadBalancer")
}

/// Whether a Service gets ports that it does not ask for.
fn gets_ports(spec: &Value) -> bool {
    match text(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => {
            given(spec, "allocateLoadBalancerNodePorts").is_none()
                || is_true(spec, "allocateLoadBalancerNodePorts")
        }
        _ => false,
    }
}

/// Whether the health of a Service's nodes is asked at a port of its own.
pub(super) fn has_health_port(spec: &Value) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

/// The ports of a Service on the nodes.
pub(super) fn ports_of(spec: &Value) -> BTreeSet<u32> {
    let ports = list(spec, "ports").iter().filter_map(|port| number(port, "nodePort"));
    let all = ports.chain(number(spec, "healthCheckNodePort"));
    all.filter_map(|port| u32::try_from(port).ok()).filter(|port| *port != 0).collect()
}

/// Takes the ports that are asked for, and others where none is.
pub(super) fn allocate(object: &mut Value, old: Option<&Value>, around: &dyn Around) -> Result<(), ApiError> {
    if !has_ports(at(object, "/spec")) {
        return Ok(());
    }
    let own = old.map(|old| ports_of(at(old, "/spec"))).unwrap_or_default();
    let mut taken = around.given().ports;
    taken.retain(|port| !own.contains(port));
    let mut mine: BTreeSet<u32> = BTreeSet::new();
    let gets_ports = gets_ports(at(object, "/spec"));
    let mut ports = list(at(object, "/spec"), "ports").to_vec();
    let mut shared = shared_ports(&ports);
    for (index, entry) in ports.iter_mut().enumerate() {
        let asked = number(entry, "nodePort").filter(|port| *port != 0);
        let own_port = number(entry, "port");
        let port = match asked.or_else(|| shared.get(&own_port).copied()) {
            Some(port) => {
                let wrong = refusal(port, &taken, &own);
                // On a dry run nobody looks where the port is.
                if let Some(wrong) = wrong.filter(|wrong| *wrong == TAKEN || !around.is_dry_run()) {
                    let path = Path::new("spec").child("ports").index(index).child("nodePort");
                    return Err(invalid(object, &[FieldError::invalid(&path, port, wrong)]));
                }
                port
            }
            None if !gets_ports => continue,
            None => i64::from(free(&taken, &own, &mine, around)?),
        };
        mine.extend(u32::try_from(port).ok().filter(|port| !own.contains(port)));
        shared.entry(own_port).or_insert(port);
        set(entry, "nodePort", port);
    }
    let spec = inner(object, "spec");
    if !ports.is_empty() {
        set(spec, "ports", ports);
    }
    if has_health_port(spec) && number(spec, "healthCheckNodePort").unwrap_or(0) == 0 {
        let port = free(&taken, &own, &mine, around)?;
        set(spec, "healthCheckNodePort", port);
    }
    Ok(())
}

/// The ports of the nodes that are asked for, by port: the same one over another protocol shares it.
fn shared_ports(ports: &[Value]) -> HashMap<Option<i64>, i64> {
    let mut shared = HashMap::new();
    for port in ports {
        if let Some(asked) = number(port, "nodePort").filter(|asked| *asked != 0) {
            shared.entry(number(port, "port")).or_insert(asked);
        }
    }
    shared
}

fn refusal(port: i64, taken: &BTreeSet<u32>, own: &BTreeSet<u32>) -> Option<&'static str> {
    let number = u32::try_from(port).unwrap_or(0);
    if own.contains(&number) {
        None
    } else if !(FIRST..=LAST).contains(&number) {
        Some(OUT_OF_RANGE)
    } else {
        taken.contains(&number).then_some(TAKEN)
    }
}

fn free(
    taken: &BTreeSet<u32>,
    own: &BTreeSet<u32>,
    mine: &BTreeSet<u32>,
    around: &dyn Around,
) -> Result<u32, ApiError> {
    if around.is_dry_run() {
        return Ok(mine.last().copied().unwrap_or(NEVER_GIVEN).saturating_add(1));
    }
    let all = taken.iter().chain(own).chain(mine).copied().collect();
    let full = || {
        ApiError::new(
            Reason::InternalError,
            "Internal error occurred: failed to allocate a nodePort: range is full",
        )
    };
    take(FIRST, DYNAMIC, LAST, &all, around.random()).ok_or_else(full)
}
