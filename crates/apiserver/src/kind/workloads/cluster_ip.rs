//! The addresses of Services.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use super::allocation::take;
use super::fields::{at, entries, fill, given, list, set, text};
use super::service::{invalid, is_external_name};
use super::service_checks::check_addresses;
use crate::error::ApiError;
use crate::kind::Around;
use crate::schema::{FieldError, Path};

pub(super) const NONE: &str = "None";

/// Whether a Service has no address on purpose.
pub(super) fn is_headless(spec: &Value) -> bool {
    list(spec, "clusterIPs").first().and_then(Value::as_str) == Some(NONE)
}

/// Makes the one address and the list of addresses say the same, and fills in families and what is not given.
pub(super) fn allocate(object: &mut Value, old: Option<&Value>, around: &dyn Around) -> Result<(), ApiError> {
    let old_spec = old.map(|old| at(old, "/spec"));
    if let Some(spec) = object.get_mut("spec") {
        normalize(spec, old_spec);
    }
    if is_external_name(at(object, "/spec")) {
        return Ok(());
    }
    set_families(object, old_spec)?;
    let needs_none = old_spec.is_some_and(|old| !is_external_name(old)) || is_headless(at(object, "/spec"));
    if needs_none { Ok(()) } else { give_address(object, around) }
}

fn normalize(spec: &mut Value, old: Option<&Value>) {
    let one = text(spec, "clusterIP").to_owned();
    match old {
        None => {
            if !one.is_empty() && list(spec, "clusterIPs").is_empty() {
                set(spec, "clusterIPs", json!([one]));
            }
        }
        Some(old) => {
            // An old client knows the one address only.
            if list(spec, "clusterIPs").is_empty()
                && one == text(old, "clusterIP")
                && let Some(addresses) = given(old, "clusterIPs")
            {
                set(spec, "clusterIPs", addresses.clone());
            }
            let same_list = given(spec, "clusterIPs") == given(old, "clusterIPs");
            if one != text(old, "clusterIP") && same_list {
                let list = if one.is_empty() { json!([]) } else { json!([one]) };
                set(spec, "clusterIPs", list);
            }
        }
    }
}

fn set_families(object: &mut Value, old: Option<&Value>) -> Result<(), ApiError> {
    let lonely = text(at(object, "/spec"), "clusterIP") == NONE
        && entries(at(object, "/spec"), "selector").next().is_none();
    if let Some(spec) = object.get_mut("spec") {
        let kept = old.and_then(|old| given(old, "ipFamilyPolicy")).cloned();
        let policy = if lonely { "RequireDualStack" } else { "SingleStack" };
        fill(spec, "ipFamilyPolicy", kept.unwrap_or_else(|| policy.into()));
    }
    let mut errors = Vec::new();
    check_addresses(at(object, "/spec"), &mut errors);
    if !errors.is_empty() {
        return Err(invalid(object, &errors));
    }
    let families = families(at(object, "/spec"), lonely, &mut errors);
    if !errors.is_empty() {
        return Err(invalid(object, &errors));
    }
    if let Some(spec) = object.get_mut("spec") {
        set(spec, "ipFamilies", families);
    }
    Ok(())
}

/// The families of a Service: there are addresses of version 4 only, and both for one that has none at all.
fn families(spec: &Value, lonely: bool, errors: &mut Vec<FieldError>) -> Vec<String> {
    let path = Path::new("spec");
    let mut families: Vec<String> =
        list(spec, "ipFamilies").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let policy = text(spec, "ipFamilyPolicy");
    let path_of_policy = path.child("ipFamilyPolicy");
    if policy == "SingleStack" && families.len() == 2 {
        let wrong = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
        errors.push(FieldError::invalid(&path_of_policy, policy, wrong));
    }
    for (index, address) in list(spec, "clusterIPs").iter().filter_map(Value::as_str).enumerate() {
        if address == NONE || index < families.len() {
            continue;
        }
        if address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6()) {
            let path = path.child("clusterIPs").index(index);
            let wrong = "IPv6 is not configured on this cluster";
            errors.push(FieldError::invalid(&path, at(spec, "/clusterIPs").clone(), wrong));
        } else {
            families.push("IPv4".to_owned());
        }
    }
    if errors.is_empty() && !lonely {
        if policy == "RequireDualStack" {
            let wrong = "this cluster is not configured for dual-stack services";
            errors.push(FieldError::invalid(&path_of_policy, policy, wrong));
        }
        for (index, family) in families.iter().enumerate().filter(|(_, family)| *family != "IPv4") {
            let path = path.child("ipFamilies").index(index);
            errors.push(FieldError::invalid(&path, family.as_str(), "not configured on this cluster"));
        }
    }
    if families.is_empty() {
        families.push("IPv4".to_owned());
    }
    if lonely && policy != "SingleStack" && families.len() == 1 {
        families.push(if families[0] == "IPv4" { "IPv6" } else { "IPv4" }.to_owned());
    }
    families
}

fn give_address(object: &mut Value, around: &dyn Around) -> Result<(), ApiError> {
    let taken = around.given().addresses;
    let network = around.service_network();
    let (first, dynamic, last) = network.numbers();
    let spec = at(object, "/spec");
    let asked = list(spec, "clusterIPs").first().and_then(Value::as_str).map(str::to_owned);
    let refused = |object: &Value, wrong: String| {
        let path = Path::new("spec").child("clusterIPs");
        let shown = at(object, "/spec/clusterIPs").clone();
        Err(invalid(object, &[FieldError::invalid(&path, shown, wrong)]))
    };
    let address = match asked {
        Some(asked) => match number(&asked).filter(|number| network.has((*number).into())) {
            Some(_) if around.is_dry_run() => asked,
            None if around.is_dry_run() => {
                let range = format!("the provided IP ({asked}) is not in the valid range");
                let wrong = format!("{range}. The range of valid IPs is {network}");
                return refused(object, format!("failed to allocate IP {asked}: {wrong}"));
            }
            None => {
                let wrong = format!(
                    "failed to allocate IP {asked}: the provided network does not match the current range"
                );
                return refused(object, wrong);
            }
            Some(number) if taken.contains(&number) => {
                let wrong = format!("failed to allocate IP {asked}: provided IP is already allocated");
                return refused(object, wrong);
            }
            Some(_) => asked,
        },
        // None is looked for: this one nobody gets.
        None if around.is_dry_run() => network.address().to_string(),
        None => match take(first, dynamic, last, &taken, around.random()) {
            Some(number) => Ipv4Addr::from(number).to_string(),
            None => return refused(object, "failed to allocate IP: range is full".to_owned()),
        },
    };
    if let Some(spec) = object.get_mut("spec") {
        set(spec, "clusterIP", address.clone());
        set(spec, "clusterIPs", json!([address]));
    }
    Ok(())
}

/// The addresses of a Service, as numbers.
pub(super) fn addresses_of(spec: &Value) -> BTreeSet<u32> {
    list(spec, "clusterIPs").iter().filter_map(|address| number(address.as_str()?)).collect()
}

fn number(address: &str) -> Option<u32> {
    address.parse::<Ipv4Addr>().ok().map(u32::from)
}
