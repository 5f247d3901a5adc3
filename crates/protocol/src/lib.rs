//! What the operator and its agents say to each other: JSON over HTTP with mutual TLS (DESIGN, section 9).
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/report[?round=N]` | a [`Line`]: what the agent knows now, in answer to that round |
//! | `GET /v1/watch` | a [`Line`] on every change and every [`HEARTBEAT`], each on a line of its own; an empty line says that the last one still holds |
//! | `POST /v1/epoch` with an [`Epoch`] | a [`Line`], once the epoch is on disk |
//! | `POST /v1/command` with an [`Instruction`] | an [`Outcome`] |
//!
//! Reports may grow new fields: a reader ignores what it does not know. Commands may not: an agent refuses what it does
//! not understand.

mod line;
mod message;
#[cfg(feature = "tls")]
pub mod tls;

pub use line::{Device, Failure, Line, Measured, Storage};
pub use message::{Epoch, Fault, Instruction, Neighbour, Outcome};
pub use muster_core::manager::command::{Action, Answer, Command, Refusal};
pub use muster_core::manager::report::Report;

use std::time::Duration;

/// Where an agent listens for its operator.
pub const AGENT_PORT: u16 = 7443;
/// Where an agent answers probes and metrics, without TLS: a kubelet has no client certificate.
pub const PROBE_PORT: u16 = 7080;

/// A report, in answer to a round.
pub const REPORT_PATH: &str = "/v1/report";
/// Reports as things change.
pub const WATCH_PATH: &str = "/v1/watch";
/// A new leader.
pub const EPOCH_PATH: &str = "/v1/epoch";
/// Something to do.
pub const COMMAND_PATH: &str = "/v1/command";

/// How often an agent says something on a watch even if nothing changed.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// After how many missed heartbeats a stream counts as lost.
pub const MISSED_HEARTBEATS: u32 = 3;

/// The longest line and the largest request: a roster of 512 members twice over, with room to spare.
pub const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// The most that is kept of a failing action's output: its last lines reach a condition's message.
pub const MAX_FAILURE_BYTES: usize = 2048;
/// The most devices that an agent reports.
pub const MAX_DEVICES: usize = 64;
