//! Forming and keeping replication: what the manager of one cluster knows, and what it decides.
//!
//! In reading order: an agent's [`report`] about its [`roster`], [`terms`] and data is folded into what is
//! [`observed`]; [`fencing`] says who is accounted for, [`election`] who is the most advanced, [`removal`] how a
//! member leaves; [`decide`](decide::decide) puts them together in five rules and gives [`command`]s;
//! [`endpoints`] says whom clients are sent to.

pub mod command;
pub mod decide;
pub mod election;
pub mod endpoints;
pub mod fencing;
pub mod observed;
pub mod removal;
pub mod report;
pub mod requests;
pub mod restore;
pub mod roster;
pub mod stamp;
pub mod terms;
pub mod wanted;

#[cfg(test)]
mod testing;
