//! One cluster after another is broken in every way that we can think of, while a client writes: every acknowledged entry is there
//! afterwards, or its loss is counted where the software may lose it. The same scenarios run with each software, and on both control
//! planes.

#![allow(dead_code, reason = "a world offers more than one set of scenarios needs")]

pub(crate) mod anyway;
mod chosen;
pub(crate) mod clients;
pub(crate) mod cluster;
pub(crate) mod deaths;
mod errant;
pub(crate) mod galeras;
pub(crate) mod hands;
mod ledgers;
mod losses;
pub(crate) mod mariadb;
pub(crate) mod missing;
pub(crate) mod processes;
pub(crate) mod scenarios;
mod served;
mod software;
mod soundness;
pub(crate) mod turns;
pub(crate) mod watching;
mod world;

pub(crate) use self::clients::Writer;
pub(crate) use self::cluster::Cluster;
pub(crate) use self::software::Software;
pub(crate) use self::world::{Kind, World};

use std::time::Duration;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);
/// How often it is looked.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a client wrote: where it is, and what.
pub(crate) type Entry = (u64, String);
