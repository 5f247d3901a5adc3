//! The operator: controllers, managers and the status writer around the pure decisions of `muster-core`.
//!
//! One event in a straight line: a watch keeps the [`cache`] and puts a key on the [`queue`]; a worker of [`run`] takes it
//! and has a pass of the [`cluster`], [`member`] or [`engine`] controller, which observes, validates, decides, applies and
//! reports. Beside them, one [`manager`] for each cluster speaks with its [`agents`]. Every call goes through the
//! [`door`], which the [`lease`] opens.

pub mod agents;
pub mod cache;
pub mod certificates;
pub mod child;
pub mod clock;
pub mod cluster;
pub mod context;
pub mod credentials;
pub mod door;
pub mod engine;
pub mod events;
pub mod key;
pub mod lease;
pub mod manager;
pub mod member;
pub mod memory;
pub mod metrics;
pub mod news;
pub mod pass;
pub mod queue;
pub mod rbac;
pub mod run;
pub mod serve;
pub mod status;
