//! The living agent: what it knows ([`live`]), what it does on command ([`command`], [`work`]), and what it watches.
//!
//! ```text
//! server → command → memory (what is obeyed, and written down) → work → start / stop → process
//!                                     ↑ status, measure: what is seen      ↓ settle: nothing lives, the data is read
//! ```
//!
//! Everything runs in one thread, because children die with the thread that made them; what may block (fsync, deleting, statvfs) is done elsewhere.
//! Work goes on when whoever asked for it is gone.

mod agent;
mod command;
mod look;
mod measure;
mod settle;
mod start;
mod status;
mod stop;
mod work;

pub mod live;
pub mod task;

pub use agent::{Agent, Counters};
pub use command::CommandError;
