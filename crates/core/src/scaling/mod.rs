//! Pool sizing: how many members a pool should have, and which one comes or goes next (R2.2, R2.3).
//!
//! The advice is a function of the threshold and of what the members report. Meeting `nodes` and `minNodes`
//! happens at once; every other change is made one at a time per pool, the next only on reports newer than
//! the last. Applying the advice leads to a size at which the advice is to hold, and stays there: a member is
//! removed for free storage only where nothing would create it again.

use std::collections::BTreeSet;

use jiff::Timestamp;
use muster_api::limits;

mod candidate;
mod cluster;
mod free;
mod hold;
mod pool;
mod publish;

pub use cluster::{Advice, advise, is_parked};
pub use free::Free;
pub use hold::Hold;
pub use pool::{Around, advise_pool};
pub use publish::{PUBLISH_INTERVAL, Published, publish};

/// Where a pool sized by free storage stops without `maxNodes`, so that a wrong figure cannot fill a cluster
/// with members.
pub const GROWTH_LIMIT: u32 = limits::DEFAULT_MAX_NODES.unsigned_abs();

/// The most members a cluster may have.
pub const MEMBER_LIMIT: usize = limits::MAX_MEMBERS.unsigned_abs() as usize;

/// A joined member must raise the free storage by at least this part of its capacity (one tenth), or growth
/// stops.
const GAIN_PART: i128 = 10;

/// `pools[].threshold`, checked: `nodes`, or any of the others. Storage is in bytes, fractions rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Exactly that many.
    Nodes(u32),
    /// Within bounds, by count or by free storage.
    Bounds {
        /// Never fewer.
        min_nodes: Option<u32>,
        /// Never more.
        max_nodes: Option<u32>,
        /// Grow when less is free.
        free_min: Option<u128>,
        /// Shrink when more is free.
        free_max: Option<u128>,
    },
}

impl From<&muster_api::cluster::Threshold> for Threshold {
    fn from(spec: &muster_api::cluster::Threshold) -> Self {
        let count = |count: i32| u32::try_from(count).unwrap_or(0);
        let bytes = |amount: &muster_api::Quantity| u128::try_from(amount.bytes()).unwrap_or(0);
        match spec.nodes {
            Some(nodes) => Self::Nodes(count(nodes)),
            None => Self::Bounds {
                min_nodes: spec.min_nodes.map(count),
                max_nodes: spec.max_nodes.map(count),
                free_min: spec.free_storage_min.as_ref().map(bytes),
                free_max: spec.free_storage_max.as_ref().map(bytes),
            },
        }
    }
}

impl Threshold {
    /// Whether the threshold itself asks for no member at all.
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Nodes(0) | Self::Bounds { max_nodes: Some(0), .. })
    }

    /// The configured count: `nodes`, else the existing members held within `minNodes` and `maxNodes`.
    pub fn desired_nodes(&self, existing: u32) -> u32 {
        match *self {
            Self::Nodes(nodes) => nodes,
            Self::Bounds { min_nodes, max_nodes, .. } => {
                existing.max(min_nodes.unwrap_or(0)).min(max_nodes.unwrap_or(u32::MAX))
            }
        }
    }
}

/// How far a member has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has never joined.
    Creating,
    /// It has joined at least once.
    Joined,
    /// It is being decommissioned, or its Member is being deleted.
    Leaving,
}

/// A member's report of its free storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeReport {
    /// Free bytes.
    pub bytes: u128,
    /// When it was measured.
    pub at: Timestamp,
}

/// What a member that was created for its storage brought to the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gain {
    /// Not measured yet; the pool's free storage was this when it was created.
    Pending {
        /// Free bytes of the pool before it came.
        before: u128,
    },
    /// Measured after it joined: by so much did the pool's free storage rise.
    Measured {
        /// Bytes; negative when the pool has less than before.
        raised: i128,
    },
}

/// A member as pool sizing sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolMember {
    /// Its name.
    pub name: String,
    /// Its ordinal in the pool; `None` for a Member made by hand, which is not counted and never removed.
    pub ordinal: Option<u32>,
    /// How far it has come.
    pub stage: Stage,
    /// `desiredState: Enabled`. A disabled member gives no free storage and is never removed by scaling.
    pub enabled: bool,
    /// Its application or its storage has failed.
    pub failed: bool,
    /// It serves writes.
    pub primary: bool,
    /// Whether it holds a complete copy (or its share) of the data, as the manager knows it.
    pub data: Data,
    /// Capacity in bytes; 0 where it is not known.
    pub capacity: u128,
    /// Its newest report, if it has one.
    pub free: Option<FreeReport>,
    /// What it brought, where it was created for its storage.
    pub gain: Option<Gain>,
}

/// Whether a member holds data that the cluster would miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// It does.
    Holds,
    /// It does not: empty, incomplete, left or errant.
    None,
}

impl PoolMember {
    /// Whether it counts in the threshold: made from the pool, and not on its way out.
    fn counts(&self) -> bool {
        self.ordinal.is_some() && self.stage != Stage::Leaving
    }

    /// Whether its storage counts in the pool's free storage.
    fn gives_storage(&self) -> bool {
        self.enabled && self.stage != Stage::Leaving
    }
}

/// One pool of the spec with its members.
#[derive(Clone, Debug)]
pub struct Pool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its threshold.
    pub threshold: Threshold,
    /// Every Member that names this pool, those made by hand and those on their way out included.
    pub members: &'a [PoolMember],
    /// Ordinals that must not be used again, though no Member has them: of forgotten members whose claim
    /// still exists.
    pub reserved: &'a BTreeSet<u32>,
    /// When a member of this pool last came, joined or went; unknown after a restart: then the start of the
    /// operator.
    pub changed_at: Option<Timestamp>,
}

/// What to do with a pool next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing, and why.
    Hold(Hold),
    /// Create a Member for each of these ordinals.
    Create {
        /// The next free ordinals, ascending.
        ordinals: Vec<u32>,
        /// Set when the member is created for its storage: what to keep as its [`Gain::Pending`].
        free_before: Option<u128>,
    },
    /// Decommission this member, through the removal gate.
    Remove {
        /// Its name.
        member: String,
        /// It is a primary and no other may go: switch over first.
        switchover_first: bool,
    },
}

/// The advice for one pool, and the figures for its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolAdvice {
    /// What to do next.
    pub decision: Decision,
    /// Members made from the pool and not on their way out.
    pub nodes: u32,
    /// `status.pools[].desiredNodes`.
    pub desired_nodes: u32,
    /// `status.pools[].freeStorage`, or who did not report.
    pub free: Free,
    /// A gain that could be measured now, to be kept as that member's [`Gain::Measured`].
    pub measured: Option<(String, i128)>,
}

#[cfg(test)]
mod tests;
