//! What the manager is asked to keep: the configured members, and how the engine replicates.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::roster::Copies;

/// What is wanted, from the spec and from objects that are not agents.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The cluster's name, for commands that a person can copy.
    pub cluster: String,
    /// The configured members by name.
    pub members: BTreeMap<String, WantedMember>,
    /// Whether all pools are at 0: everything stops, nothing leaves.
    pub parked: bool,
    /// How many members serve writes.
    pub primaries: usize,
    /// How the engine replicates.
    pub engine: Engine,
    /// `failover.allowLoss`: go on without a complete read set. Never replaces accounting.
    pub allow_loss: bool,
    /// A count of members that a person set in `restoreReplicas`; never Muster's own.
    pub restore: Option<usize>,
    /// The marks on the claims of this cluster, this incarnation's and kept ones.
    pub formed: Marks,
}

/// One configured member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is known of a member besides its reports, each yes or no"
)]
pub struct WantedMember {
    /// Its number in its pool; none for a member made by hand.
    pub ordinal: Option<u32>,
    /// Its pool.
    pub pool: String,
    /// Whether its administrator disabled it.
    pub disabled: bool,
    /// Whether it is to be decommissioned.
    pub leaving: bool,
    /// Whether its claim was never bound to a volume: it surely holds nothing.
    pub never_bound: bool,
    /// Whether its Pod does not run what its workload says, and is to be replaced once its application is stopped.
    pub outdated: bool,
}

/// How an engine replicates, as far as decisions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "what an engine can do is a list of independent yes or no")]
pub struct Engine {
    /// How many copies an acknowledged write has.
    pub copies: Copies,
    /// Whether the software elects its primary by itself.
    pub elects: bool,
    /// Whether it can promote a running secondary; else it is stopped and started.
    pub promotes: bool,
    /// Whether it can demote a running primary; else it is stopped.
    pub demotes: bool,
    /// Whether it can re-form without a restart when all live without quorum.
    pub bootstraps: bool,
    /// Whether it adds devices to its storage pool by itself.
    pub adds_devices: bool,
    /// How long a live process may make no progress.
    pub stall_timeout: SignedDuration,
}

/// The marks that say that a cluster was formed. The mark names the seed, so that a forming that was cut off
/// between mark and seed goes on with the same seed, and two can never be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The distinct marks found.
    pub found: BTreeSet<Mark>,
    /// Whether a claim carries none.
    pub some_unmarked: bool,
}

/// The value of the mark: which member seeds, on which volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The seed.
    pub member: String,
    /// The uuid of its volume.
    pub volume: String,
}

impl Wanted {
    /// The order in which equal members are taken: ordinal, pool, name; those made by hand last.
    pub fn order<'a>(&'a self, member: &'a str) -> (u32, &'a str, &'a str) {
        match self.members.get(member) {
            Some(wanted) => (wanted.ordinal.unwrap_or(u32::MAX), wanted.pool.as_str(), member),
            None => (u32::MAX, "", member),
        }
    }

    /// Whether this member is disabled.
    pub fn disabled(&self, member: &str) -> bool {
        self.members.get(member).is_some_and(|wanted| wanted.disabled)
    }

    /// Whether the Pod of this member is to be replaced. A disabled member is left as it is, one that leaves needs no
    /// other.
    pub fn outdated(&self, member: &str) -> bool {
        let replaced = |wanted: &WantedMember| wanted.outdated && !wanted.disabled && !wanted.leaving;
        self.members.get(member).is_some_and(replaced)
    }

    /// Whether this member is configured and stays.
    pub fn stays(&self, member: &str) -> bool {
        self.members.get(member).is_some_and(|wanted| !wanted.leaving)
    }
}
