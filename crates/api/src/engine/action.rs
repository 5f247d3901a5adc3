//! The commands by which an engine drives its software.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::names::Action;

/// The commands that drive the software. They run in the container `main`, started by the agent, with the
/// `MUSTER_…` environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Actions {
    /// While stopped: prints `{"history","sequence","position","empty"}` as JSON, or a bare unsigned integer. Any other
    /// exit than 0 means that it is not known.
    pub sequence: ActionSpec,
    /// Starts the first member of a new or recovered cluster, in the foreground.
    pub seed: ActionSpec,
    /// Starts a member as primary, in the foreground.
    pub primary: ActionSpec,
    /// Starts a member as secondary, in the foreground.
    pub secondary: ActionSpec,
    /// Run every second or so while the process lives. Exits 0: running as secondary; 8: running as primary; 7:
    /// stopped; others: failed. May print JSON `{state, sequence, lagSeconds, synced, view, component, progress, message}`.
    pub status: ActionSpec,
    /// Stops the process cleanly. Default: SIGTERM, then SIGKILL at the timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<ActionSpec>,
    /// Makes a running secondary primary, once it has applied everything it received. Default: stop and start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promote: Option<ActionSpec>,
    /// Makes a running primary secondary. Default: stop and start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demote: Option<ActionSpec>,
    /// Re-forms a cluster whose members all live and have no quorum. Default: stop all, and recover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<ActionSpec>,
    /// Makes a member known to the software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<ActionSpec>,
    /// Moves data away and takes the member out, before it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<ActionSpec>,
    /// Prints the free storage of the member, in bytes. Default: the agent measures the volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_storage: Option<ActionSpec>,
    /// Prints the storage devices of the member, as JSON. Default: the volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<ActionSpec>,
    /// Makes an available device part of the storage pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_device: Option<ActionSpec>,
}

impl Actions {
    /// The command of an action, if the engine has one.
    pub fn get(&self, action: Action) -> Option<&ActionSpec> {
        match action {
            Action::Sequence => Some(&self.sequence),
            Action::Seed => Some(&self.seed),
            Action::Primary => Some(&self.primary),
            Action::Secondary => Some(&self.secondary),
            Action::Status => Some(&self.status),
            Action::Stop => self.stop.as_ref(),
            Action::Promote => self.promote.as_ref(),
            Action::Demote => self.demote.as_ref(),
            Action::Bootstrap => self.bootstrap.as_ref(),
            Action::Join => self.join.as_ref(),
            Action::Leave => self.leave.as_ref(),
            Action::FreeStorage => self.free_storage.as_ref(),
            Action::Devices => self.devices.as_ref(),
            Action::AddDevice => self.add_device.as_ref(),
        }
    }

    /// How long an action may take, in seconds, also where the engine leaves it to a default.
    pub fn timeout_seconds(&self, action: Action) -> i32 {
        self.get(action)
            .and_then(|spec| spec.timeout_seconds)
            .unwrap_or_else(|| Self::default_timeout_seconds(action))
    }

    /// How long an action may take, in seconds, unless the engine says otherwise.
    pub const fn default_timeout_seconds(action: Action) -> i32 {
        match action {
            Action::Status | Action::FreeStorage | Action::Devices => 10,
            Action::Sequence | Action::Stop | Action::AddDevice => 300,
            Action::Promote | Action::Demote | Action::Bootstrap | Action::Join => 60,
            Action::Seed | Action::Primary | Action::Secondary => 120,
            Action::Leave => 86_400,
        }
    }
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionSpec {
    /// The program and its arguments. No shell is involved.
    #[schemars(length(min = 1, max = limits::MAX_COMMAND), inner(length(max = limits::COMMAND_WORD_MAX)))]
    pub command: Vec<String>,
    /// How long it may take. For `seed`, `primary` and `secondary`: how long until `status` sees the process. Default:
    /// 10 for status, freeStorage and devices, 60 for promote, demote, bootstrap and join, 120 for seed, primary and
    /// secondary, 300 for sequence, stop and addDevice, 86400 for leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::TIMEOUT_MAX))]
    pub timeout_seconds: Option<i32>,
}
