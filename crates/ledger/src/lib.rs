//! A small replicated log: one primary takes entries, secondaries follow it, and an entry is acknowledged when enough voters
//! have it on disk. It is what Muster is shown with, and what its tests kill.
//!
//! ```text
//! client ─ append ─▶ primary: queue ─▶ one frame ─▶ its log (fsync) ─▶ frames to followers ─▶ their logs (fsync) ─▶ acks
//!        ◀─ ok 17 ──────────────────── when W voters have it ◀──────────────────────────────────────────────────────┘
//! ```
//!
//! It elects nobody and starts nothing: who leads is Muster's decision. Logs of one history are equal byte for byte as far
//! as they reach, and a primary follows nobody's word about that: it compares digests.

pub mod client;
pub mod control;
pub mod frame;
pub mod log;
pub mod node;
pub mod program;
pub mod surroundings;
