//! Rolling changes: whose spec is brought up to the cluster's next.
//!
//! `zone`, `nodeAffinity` and `workload` change together, on one Member at a time: secondaries first, primaries last,
//! and the next only when all the others are Ready at their generation. A Member that is not Ready anyway has nothing to
//! lose, so it does not wait: what is new may be what helps it. Of whom nobody knows whether it is Ready, as of everyone
//! right after the operator started, that cannot be said; only one that is alone in this may need what is new to be heard again.

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
    let unheard = members.iter().filter(|member| member.ready == Truth::Unknown && !member.at_rest).count();
    let has_nothing_to_lose = |member: &&&Rolled| match member.ready {
        Truth::True => member.at_rest,
        Truth::False => true,
        Truth::Unknown => member.at_rest || unheard == 1,
    };
    let free: Vec<String> = outdated.iter().filter(has_nothing_to_lose).map(|m| m.name.clone()).collect();
    if !free.is_empty() {
        return Next::Update(free);
    }
    // The highest ordinal first, as a StatefulSet does it; primaries last.
    let Some(next) = outdated.iter().rev().min_by_key(|member| member.primary) else { return Next::Done };
    let unready: Vec<String> = members
        .iter()
        .filter(|member| member.ready != Truth::True && !member.fixed && !member.at_rest)
        .map(|member| member.name.clone())
        .collect();
    if unready.is_empty() {
        Next::Update(vec![next.name.clone()])
    } else {
        Next::Wait { unready, next: next.name.clone() }
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
