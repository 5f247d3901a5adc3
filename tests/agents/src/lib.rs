//! Simulated agents that speak the wire protocol, for tests of the operator: in process, on tokio's (paused) time, and with
//! chance from a seed, so that a run can be repeated.
//!
//! ```text
//! Fleet::dial() → answer (HTTP) → Node of muster-test-model: a volume, an agent, an application
//!                                   ↑ driver: what takes time      ↑ life: what happens to machines
//! ```

mod answer;
mod copies;
mod driver;
mod elections;
pub mod faults;
mod fleet;
pub mod kubelet;
mod life;
mod memory;
mod oracle;
mod pace;
pub mod sockets;
mod state;
mod stream;

pub use self::copies::Place;
pub use self::faults::{Fault, Faults, NoFaults, RandomFaults, Seen};
pub use self::fleet::{Body, Fleet};
pub use self::memory::Memory;
pub use self::pace::Pace;
pub use self::state::Kind;
pub use muster_test_model::Quirks;
