//! `StorageReady`: volumes bound and as large as asked, devices there and part of the storage pool (R2.6, R2.7).

use muster_api::names::Reason;

use super::{DeviceSeen, MemberInputs};
use crate::conditions::{self, Finding};
use crate::generation::{self, Gate};

pub(super) fn storage(inputs: &MemberInputs<'_>) -> Finding {
    let seen = &inputs.storage;
    if inputs.external {
        return Finding::is_true(Reason::External, "its storage is on a host of its own");
    }
    if !seen.not_found.is_empty() {
        let text = format!("these claims do not exist: {}", conditions::names(seen.not_found));
        return Finding::is_false(Reason::VolumeNotFound, text);
    }
    if !seen.unobserved.is_empty() {
        let text = format!("could not be observed: {}", conditions::listed(seen.unobserved, "; "));
        return Finding::unknown(Reason::ObservationFailed, text);
    }
    let gates = seen.claims.iter().map(|(name, gate)| (name.as_str(), gate.clone()));
    match generation::worst(gates) {
        Gate::Ready => {}
        Gate::Stale { reason } => return Finding::unknown(Reason::NotObserved, reason),
        Gate::NotYet { reason } | Gate::Failed { reason } => {
            return Finding::is_false(Reason::VolumeNotReady, reason);
        }
    }
    devices(inputs)
}

/// Devices are known by the agent only; without it nothing is said about them.
fn devices(inputs: &MemberInputs<'_>) -> Finding {
    let ready = || Finding::is_true(Reason::AsDesired, "every volume and device is ready");
    if inputs.storage.wanted_devices.is_empty() {
        return ready();
    }
    if let Err(unknown) = &inputs.seen {
        return unknown.clone();
    }
    let missing: Vec<String> = inputs
        .storage
        .wanted_devices
        .iter()
        .filter_map(|name| Some(format!("{name} {}", what_is_wrong(inputs.storage.devices, name)?)))
        .collect();
    if missing.is_empty() {
        return ready();
    }
    Finding::is_false(Reason::DeviceNotReady, conditions::listed(&missing, "; "))
}

fn what_is_wrong(devices: &[DeviceSeen], name: &str) -> Option<&'static str> {
    match devices.iter().find(|device| device.name == name) {
        None => Some("is not reported"),
        Some(device) if device.available != Some(true) => Some("is not there"),
        Some(device) if device.pooled != Some(true) => Some("is not part of the storage pool"),
        Some(_) => None,
    }
}
