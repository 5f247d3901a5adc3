//! What an agent says: its report, and what it measures besides.

use jiff::Timestamp;
use muster_core::manager::report::Report;
use serde::{Deserialize, Serialize};

/// One line of a watch, and the answer to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The cluster that this agent belongs to.
    pub cluster: String,
    /// Its member.
    pub member: String,
    /// The uid of the Pod it runs in; none on a host of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_uid: Option<String>,
    /// When this run of the agent began, by the clock of its node: its container ended after that, or did not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// What decisions are made of.
    pub report: Report,
    /// What people and pool sizing look at.
    #[serde(default)]
    pub measured: Measured,
}

/// What an agent measures. None of it decides who is elected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// The storage of the member's volumes; none while it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The devices of the member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Device>,
    /// How many seconds it is behind the primary, where the engine can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_seconds: Option<u64>,
    /// What the application says of itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The action that failed last, until one of the same name succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// How much a member can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// In bytes.
    pub capacity: u64,
    /// In bytes.
    pub free: u64,
}

/// A device of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Whether it is there and can be used.
    pub available: bool,
    /// Whether it is part of the storage pool.
    pub pooled: bool,
    /// In bytes.
    pub capacity: u64,
    /// In bytes.
    pub free: u64,
}

/// An action that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which action of the engine.
    pub action: String,
    /// How it ended: an exit code, a signal, a timeout.
    pub how: String,
    /// The last lines it said.
    pub output: String,
}
