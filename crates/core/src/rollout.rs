//! Rolling changes: whose spec is brought up to the cluster's next.
//!
//! `zone`, `nodeAffinity` and `workload` change together, on one Member at a time: secondaries first, primaries last,
//! and the next only when those that were changed before it are Ready at their generation.
//!
//! A Member whose application does not run has nothing to lose, so it does not wait: what is new may be what helps it. Not to be
//! Ready is not enough for that: while no primary serves no secondary is Ready, and while claims grow nobody is, and all of
//! them run. Such a one comes before those that are Ready, and is not waited for, since it may never be Ready as it is; but it
//! comes in its turn. While no primary serves nobody who runs is changed: one of them is about to take over. Of whom nobody
//! knows whether it is Ready, as of everyone right after the operator started, is waited for; only one that is alone in this
//! may need what is new to be heard again.

use muster_api::Member;
use muster_api::cluster::Pool;

use crate::build::names;
use crate::conditions::Truth;

/// A Member as a rollout sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one Member")]
pub struct Rolled {
    /// Its name.
    pub name: String,
    /// Whether its spec is what the cluster's spec builds.
    pub current: bool,
    /// Whether it is Ready at its generation, by what is stored and by what is known.
    pub ready: Truth,
    /// Whether its application runs, or may run for all that is known.
    pub runs: bool,
    /// Whether it serves writes.
    pub primary: bool,
    /// Whether it may be changed: a disabled member, and one on its way out, may not.
    pub fixed: bool,
    /// Whether a change reaches it without a restart: its workload is at 0, or it runs on a host of its own.
    pub at_rest: bool,
}

/// What a rollout does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Every Member that may be changed is as the cluster's spec says.
    Done,
    /// Bring these up to date now.
    Update(Vec<String>),
    /// Wait for these to become Ready; the first outdated one is named last.
    Wait {
        /// Who is not Ready.
        unready: Vec<String>,
        /// Who comes next.
        next: String,
    },
}

/// Whose spec changes next. `members` are in the order of the pools and ordinals.
pub fn next(members: &[Rolled]) -> Next {
    let outdated: Vec<&Rolled> = members.iter().filter(|member| !member.current && !member.fixed).collect();
    let free: Vec<String> =
        outdated.iter().filter(|member| member.has_nothing_to_lose()).map(|m| m.name.clone()).collect();
    if !free.is_empty() {
        return Next::Update(free);
    }
    // Primaries last; whoever is not Ready before those who are; else the highest ordinal first, as a StatefulSet does it.
    let order = |member: &&&Rolled| (member.primary, member.ready == Truth::True);
    let Some(next) = outdated.iter().rev().min_by_key(order) else { return Next::Done };
    let unready: Vec<&Rolled> =
        members.iter().filter(|m| m.ready != Truth::True && !m.fixed && !m.at_rest).collect();
    let awaits_its_turn = |member: &Rolled| !member.current && member.ready == Truth::False;
    let someone_returns = unready.iter().any(|other| other.name != next.name && !awaits_its_turn(other));
    // Alone it could not hand over to anybody.
    let led = members.len() == 1 || members.iter().any(|member| member.primary);
    if someone_returns || (!led && next.ready != Truth::True) {
        let unready = unready.into_iter().map(|member| member.name.clone()).collect();
        return Next::Wait { unready, next: next.name.clone() };
    }
    Next::Update(vec![next.name.clone()])
}

impl Rolled {
    /// Whether nothing ends that serves, or could, when it is changed now.
    fn has_nothing_to_lose(&self) -> bool {
        self.at_rest || (!self.runs && self.ready != Truth::True)
    }
}

/// Where a Member stands among the others of its cluster: by ordinal, then by pool; those that a person made come last.
pub fn order(pools: &[Pool], member: &Member) -> (u32, usize, String) {
    let pool = pools.iter().position(|pool| pool.name == member.spec.pool);
    (
        names::ordinal(member).unwrap_or(u32::MAX),
        pool.unwrap_or(usize::MAX),
        member.metadata.name.clone().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests;
