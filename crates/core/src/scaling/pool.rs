//! The sizing of one pool, row by row as the design's table has it.

use std::collections::BTreeSet;

use super::candidate::next_to_go;
use super::{
    Decision, Free, GAIN_PART, GROWTH_LIMIT, Gain, Hold, Pool, PoolAdvice, PoolMember, Stage, Threshold, free,
};

/// The highest ordinal that the name of a pool's member can carry (`limits::ORDINAL_PATTERN`).
const ORDINAL_MAX: u32 = 9999;

/// What a pool must know of the rest of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// Members outside of the pool that hold data.
    pub holders_elsewhere: usize,
    /// How many members may still be created in the cluster.
    pub room: usize,
}

/// What to do with `pool` next.
pub fn advise_pool(pool: &Pool<'_>, around: Around) -> PoolAdvice {
    let view = View::new(pool, around);
    PoolAdvice {
        decision: view.decide(),
        nodes: view.count,
        desired_nodes: pool.threshold.desired_nodes(view.count),
        free: view.free.clone(),
        measured: view.measured.clone(),
    }
}

/// A pool with the figures every row needs.
struct View<'a> {
    pool: &'a Pool<'a>,
    around: Around,
    count: u32,
    free: Free,
    outdated: Vec<String>,
    measured: Option<(String, i128)>,
}

impl<'a> View<'a> {
    fn new(pool: &'a Pool<'a>, around: Around) -> Self {
        let count = pool.members.iter().filter(|m| m.counts()).count();
        let mut view = Self {
            pool,
            around,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            free: free::measured(pool.members),
            outdated: free::outdated(pool.members, pool.changed_at),
            measured: None,
        };
        view.measured = view.measure();
        view
    }

    fn decide(&self) -> Decision {
        match self.pool.threshold {
            Threshold::Nodes(nodes) => self.exactly(nodes),
            Threshold::Bounds { min_nodes, max_nodes, free_min, free_max } => {
                if let Some(min) = min_nodes.filter(|min| self.count < *min) {
                    return self.create(min - self.count, None);
                }
                let free = match self.settled() {
                    Ok(free) => free,
                    Err(hold) => return Decision::Hold(hold),
                };
                if max_nodes.is_some_and(|max| self.count > max) {
                    return self.remove();
                }
                let rows = Rows { min_nodes, max_nodes, free_min, free_max };
                if rows.would_create(free) {
                    return self.grow(rows);
                }
                if free_max.is_some_and(|max| free > max) {
                    return self.shrink(rows, free);
                }
                Decision::Hold(Hold::AtSize)
            }
        }
    }

    /// `nodes`: created at once, removed one at a time; free storage has no say.
    fn exactly(&self, nodes: u32) -> Decision {
        if self.count < nodes {
            return self.create(nodes - self.count, None);
        }
        if self.count == nodes {
            return Decision::Hold(Hold::AtSize);
        }
        match self.leaving() {
            Some(name) => Decision::Hold(Hold::Leaving(name)),
            None => self.remove(),
        }
    }

    /// The free storage to decide by, members being created with their capacity; or why it is too early to
    /// decide.
    fn settled(&self) -> Result<u128, Hold> {
        if let Some(name) = self.leaving() {
            return Err(Hold::Leaving(name));
        }
        let free = match &self.free {
            Free::Known(bytes) => *bytes,
            Free::Missing(names) => return Err(Hold::FreeUnknown(names.clone())),
        };
        if !self.outdated.is_empty() {
            return Err(Hold::AwaitingReports(self.outdated.clone()));
        }
        Ok(free.saturating_add(free::promised(self.pool.members)))
    }

    fn grow(&self, rows: Rows) -> Decision {
        let limit = rows.limit();
        if self.count >= limit {
            return Decision::Hold(if rows.by_storage() { Hold::AtMaximum { limit } } else { Hold::AtSize });
        }
        let creating = self.members().filter(|m| m.counts() && m.enabled && m.stage == Stage::Creating);
        let creating: Vec<String> = creating.map(|m| m.name.clone()).collect();
        if !creating.is_empty() {
            return Decision::Hold(Hold::Joining(creating));
        }
        if !rows.by_storage() {
            return self.create(1, None);
        }
        match (self.useless(), &self.free) {
            (Some(name), _) => Decision::Hold(Hold::NoGain(name)),
            (None, Free::Known(before)) => self.create(1, Some(*before)),
            (None, Free::Missing(names)) => Decision::Hold(Hold::FreeUnknown(names.clone())),
        }
    }

    fn shrink(&self, rows: Rows, free: u128) -> Decision {
        if self.count <= rows.min_nodes.unwrap_or(0) {
            return Decision::Hold(Hold::AtSize);
        }
        let Some(member) = next_to_go(self.pool.members, self.around.holders_elsewhere) else {
            return Decision::Hold(Hold::NobodyMayGo);
        };
        // Its data moves to the others, so they lose its whole capacity, not only what it has free.
        match free.checked_sub(member.capacity) {
            Some(left) if !rows.would_create(left) => self.remove(),
            _ => Decision::Hold(Hold::WouldGrowAgain(member.name.clone())),
        }
    }

    fn remove(&self) -> Decision {
        match next_to_go(self.pool.members, self.around.holders_elsewhere) {
            Some(member) => {
                Decision::Remove { member: member.name.clone(), switchover_first: member.primary }
            }
            None => Decision::Hold(Hold::NobodyMayGo),
        }
    }

    /// Creates `wanted` members, or as many as the cluster has room for.
    fn create(&self, wanted: u32, free_before: Option<u128>) -> Decision {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut taken: BTreeSet<u32> = self.members().filter_map(|m| m.ordinal).collect();
        taken.extend(self.pool.reserved);
        let free = (0..=ORDINAL_MAX).filter(|ordinal| !taken.contains(ordinal));
        let ordinals: Vec<u32> = free.take(wanted.min(self.around.room)).collect();
        if ordinals.is_empty() {
            return Decision::Hold(Hold::ClusterFull);
        }
        Decision::Create { ordinals, free_before }
    }

    /// A member of the pool that joined and brought less than a tenth of its capacity.
    fn useless(&self) -> Option<String> {
        let raised = |m: &PoolMember| match m.gain {
            Some(Gain::Measured { raised }) => Some(raised),
            _ => self.measured.as_ref().filter(|(name, _)| *name == m.name).map(|(_, raised)| *raised),
        };
        let own = self.members().filter(|m| m.counts());
        let mut useless =
            own.filter(|m| raised(m).is_some_and(|r| r.saturating_mul(GAIN_PART) < signed(m.capacity)));
        useless.next().map(|m| m.name.clone())
    }

    /// What the one member whose gain is open brought, once reports newer than its coming are in.
    fn measure(&self) -> Option<(String, i128)> {
        let Free::Known(now) = &self.free else { return None };
        if !self.outdated.is_empty() || self.leaving().is_some() {
            return None;
        }
        self.members().filter(|m| m.counts() && m.stage == Stage::Joined).find_map(|m| match m.gain {
            Some(Gain::Pending { before }) => Some((m.name.clone(), signed(*now) - signed(before))),
            _ => None,
        })
    }

    fn leaving(&self) -> Option<String> {
        self.members().find(|m| m.stage == Stage::Leaving).map(|m| m.name.clone())
    }

    fn members(&self) -> impl Iterator<Item = &'a PoolMember> {
        self.pool.members.iter()
    }
}

/// The rows of the table that go by free storage or by `maxNodes` alone.
#[derive(Clone, Copy)]
struct Rows {
    min_nodes: Option<u32>,
    max_nodes: Option<u32>,
    free_min: Option<u128>,
    free_max: Option<u128>,
}

impl Rows {
    /// Whether a row asks for another member at this much free storage, the limit on members apart.
    fn would_create(self, free: u128) -> bool {
        match (self.free_min, self.min_nodes, self.free_max) {
            (Some(min), _, _) => free < min,
            (None, None, Some(max)) => free < max,
            (None, None, None) => self.max_nodes.is_some(),
            (None, Some(_), _) => false,
        }
    }

    /// Whether growth is for storage, and not merely up to `maxNodes`.
    fn by_storage(self) -> bool {
        self.free_min.is_some() || self.free_max.is_some()
    }

    fn limit(self) -> u32 {
        self.max_nodes.unwrap_or(GROWTH_LIMIT)
    }
}

fn signed(bytes: u128) -> i128 {
    i128::try_from(bytes).unwrap_or(i128::MAX)
}
