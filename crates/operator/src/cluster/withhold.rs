//! When the status of a cluster is withheld: after a restart nothing is written until everyone was heard and every Member was
//! looked at, or was waited for long enough. Else each restart would write what it takes back in a moment.

use std::time::Duration;

use kube::ResourceExt;
use muster_api::Member;
use muster_core::pause::Manager;

use super::observe::Seen;
use crate::manager::START_LIMIT;
use crate::memory::Memory;

/// How long Members are waited for: until the manager has begun, which the design bounds at ten seconds, and a moment for what they
/// make of that. Where someone is not heard the manager begins just as the ten seconds end; a status that was written then would
/// tell of Members of whom nothing is known yet, and be taken back at once. Not longer, whatever becomes of one of them.
const MEMBERS_LIMIT: Duration = START_LIMIT.saturating_add(Duration::from_secs(1));

/// For how long the status is withheld; none: it is written now.
pub(super) fn withheld(seen: &Seen, memory: &Memory) -> Option<Duration> {
    let stored = seen.cluster.status.as_ref().and_then(|status| status.observed_generation);
    if stored != Some(seen.generation()) || seen.deleting() {
        return None;
    }
    // Without an intent there is nothing that a manager could wait for. Else it says itself when it has begun.
    if seen.view.manager == Manager::Starting && memory.intent.is_some() {
        return Some(START_LIMIT);
    }
    for_members(seen, memory)
}

/// Soon after a restart, while a Member was not looked at with what the manager sees: what it is found to be comes in a
/// moment.
fn for_members(seen: &Seen, memory: &Memory) -> Option<Duration> {
    let looked = |member: &Member| memory.members.get(&member.name_any()).is_some_and(|member| member.looked);
    if memory.shown || seen.pause.clustering || seen.members.iter().all(|member| looked(member)) {
        return None;
    }
    let passed =
        memory.since.map(|since| Duration::try_from(seen.now.duration_since(since)).unwrap_or_default());
    let left = MEMBERS_LIMIT.saturating_sub(passed.unwrap_or_default());
    (!left.is_zero()).then_some(left)
}
