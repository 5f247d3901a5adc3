//! The operator: controllers, managers and the status writer around the pure decisions of `muster-core`.

pub mod agents;
pub mod certificates;
pub mod clock;
pub mod key;
pub mod lease;
pub mod metrics;
pub mod queue;
pub mod secrets;
pub mod serve;
