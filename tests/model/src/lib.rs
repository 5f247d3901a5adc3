//! What a member is made of, for simulations: a volume that survives, and an agent and an application that do not.
//!
//! No time and no chance are in it, so that the random histories of `muster-core` and the fleets of `muster-test-agents`
//! play the same members: a [`Node`] obeys commands as an agent does, and [`replication`] is what applications do
//! among themselves.

mod application;
mod node;
pub mod replication;
mod volume;

pub use self::application::App;
pub use self::node::{Agent, Node, Quirks};
pub use self::replication::Nodes;
pub use self::volume::Volume;
