//! `devices[]`: the storage devices that the agent reports.

use std::collections::BTreeMap;

use jiff::Timestamp;
use muster_api::limits;
use muster_api::member::Device;

use super::super::text;
use super::MemberInputs;

/// Figures are rounded down to this part of the capacity (one hundredth).
const STEPS: u128 = 100;

/// A device, as the agent reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSeen {
    /// Its path, or the name of its claim.
    pub name: String,
    /// Whether it is there.
    pub available: Option<bool>,
    /// Whether it is part of the storage pool.
    pub pooled: Option<bool>,
    /// Its size in bytes.
    pub capacity: Option<u128>,
    /// How much of it is free, in bytes.
    pub free: Option<u128>,
}

/// The devices to show. What is free on them is restated only together with the member's free storage.
pub(super) fn devices(inputs: &MemberInputs<'_>, now: Timestamp) -> Vec<Device> {
    let restate = inputs.storage.free.is_none_or(|shown| shown.at == now);
    let before = inputs.previous.map_or(&[][..], |previous| previous.devices.as_slice());
    let most = usize::try_from(limits::MAX_DEVICES).unwrap_or(0);
    // The list is a map by name: a name that an agent reports twice would make the API server refuse it all.
    let mut named: BTreeMap<String, &DeviceSeen> = BTreeMap::new();
    for device in inputs.storage.devices.iter().filter(|device| !device.name.is_empty()) {
        named.entry(text::cut(&device.name, limits::PATH_MAX)).or_insert(device);
    }
    let shown = named.into_iter().take(most).map(|(name, device)| {
        let fresh = device.free.map(|free| {
            let step = (device.capacity.unwrap_or(0) / STEPS).max(1);
            text::bytes(free - free % step)
        });
        let old = before.iter().find(|old| old.name == name && !restate).and_then(|old| old.free.clone());
        Device {
            name,
            available: device.available,
            pooled: device.pooled,
            capacity: device.capacity.map(text::bytes),
            free: fresh.map(|fresh| old.unwrap_or(fresh)),
        }
    });
    shown.collect()
}
