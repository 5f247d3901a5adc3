//! A whole operator with simulated agents and a kubelet in miniature, against any API server: the embedded one in process and
//! on paused time, or a real one.
//!
//! ```text
//! Process (elector + operator) ── Spy ──▶ API server ◀── Kubelet ──▶ Fleet
//!        └────────────── agents, through Epochs ─────────────────────▲
//! ```

// A helper of tests says what is wrong by panicking.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, clippy::missing_panics_doc)]

pub mod epochs;
pub mod history;
pub mod process;
pub mod samples;
pub mod spy;
pub mod world;

pub use self::epochs::Epochs;
pub use self::history::History;
pub use self::process::{Process, Setup};
pub use self::spy::{Call, Spy};
pub use self::world::{World, is, is_ready, pause};
