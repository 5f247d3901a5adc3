//! Rolling changes: whose spec is brought up to the cluster's next.
//!
//! `zone`, `nodeAffinity` and `workload` change together, on one Member at a time: secondaries first, primaries last,
//! and the next only when all the others are Ready at their generation. A Member that is not Ready anyway has nothing to
//! lose, so it does not wait: what is new may be what helps it.

/// A Member as a rollout sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one Member")]
pub struct Rolled {
    /// Its name.
    pub name: String,
    /// Whether its spec is what the cluster's spec builds.
    pub current: bool,
    /// Whether it is Ready at its generation, by what is stored and by what is known.
    pub ready: bool,
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
        outdated.iter().filter(|member| !member.ready || member.at_rest).map(|m| m.name.clone()).collect();
    if !free.is_empty() {
        return Next::Update(free);
    }
    // The highest ordinal first, as a StatefulSet does it; primaries last.
    let Some(next) = outdated.iter().rev().min_by_key(|member| member.primary) else { return Next::Done };
    let unready: Vec<String> = members
        .iter()
        .filter(|member| !member.ready && !member.fixed && !member.at_rest)
        .map(|member| member.name.clone())
        .collect();
    if unready.is_empty() {
        Next::Update(vec![next.name.clone()])
    } else {
        Next::Wait { unready, next: next.name.clone() }
    }
}

#[cfg(test)]
mod tests;
