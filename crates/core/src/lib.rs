//! The pure decisions of Muster: observe, decide, status. No client, no clock, no randomness.

pub mod build;
pub mod conditions;
pub mod drift;
pub mod generation;
pub mod manager;
pub mod pause;
pub mod phase;
pub mod rollout;
pub mod scaling;
pub mod status;
pub mod validation;
