//! One ledger after another is broken in every way that we can think of, while a client writes: every acknowledged entry is there
//! afterwards. The same scenarios run on both control planes; each has a cluster of its own.

#![allow(dead_code, reason = "a world offers more than one set of scenarios needs")]

mod clients;
mod cluster;
mod errant;
mod hands;
mod ledgers;
mod processes;
mod scenarios;
mod soundness;
mod turns;
mod watching;
mod world;

pub(crate) use self::clients::Writer;
pub(crate) use self::cluster::Cluster;
pub(crate) use self::world::{Kind, World};

use std::time::Duration;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);
/// How often it is looked.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);
