//! The storage of a Member that runs in a Pod: devices that can be given to it, and a volume for the agent's state.

use muster_api::member::MemberStorage;

use super::{Path, Violation};

/// Where a node's devices are. A Pod is given nothing else of its node.
const DEVICES: &str = "/dev/";

/// Everything wrong with it. An external Member has none.
pub(super) fn violations(storage: &[MemberStorage], path: &Path) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut refuse = |path: &Path, message: &str| {
        found.push(Violation { path: path.to_string(), message: message.to_owned() });
    };
    for (index, entry) in storage.iter().enumerate() {
        let Some(device) = &entry.device else { continue };
        let outside = device.split('/').any(|part| part == "..");
        if !device.starts_with(DEVICES) || device.ends_with('/') || outside {
            refuse(&path.index(index).field("device"), "must be the path of a device below /dev");
        }
    }
    if !storage.is_empty() && storage.iter().all(|entry| entry.pvc_name.is_none()) {
        refuse(path, "give at least one pvcName: the agent keeps its state on a volume, not on a device");
    }
    found
}
