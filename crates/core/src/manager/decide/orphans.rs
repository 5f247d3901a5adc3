//! Applications that wait for data which nobody sends any more: they would wait until they are taken for stalled.

use jiff::SignedDuration;

use super::super::command::Action;
use super::super::fencing::Standing;
use super::super::report::Activity;
use super::super::roster::Roster;
use super::Decision;
use super::scene::Scene;

/// How long nothing has to arrive before that is more than a pause: what was sent to the end is made ready without a word.
const ORPHANED: SignedDuration = SignedDuration::from_secs(30);

/// Nobody serves, and all that run fetch what they lack: from each other there is nothing to have. They stop, so that whoever
/// has data can seed.
pub(super) fn stop(scene: &Scene<'_>, decision: &mut Decision) {
    let fetches = scene.observed.running().all(|(_, _, running)| running.activity == Activity::Joining);
    if !fetches || !nobody_else_runs(scene) {
        return;
    }
    for (member, _, _) in scene.observed.running() {
        let since = scene.observed.members.get(member).and_then(|seen| seen.progressed);
        match since.map(|since| since + ORPHANED).filter(|until| scene.now < *until) {
            Some(until) => decision.wake_at(until),
            None => decision.order(scene, member, Action::Stop),
        }
    }
}

/// Whether it is certain of every other member that it does not run. One that is not heard may send all the same.
fn nobody_else_runs(scene: &Scene<'_>) -> bool {
    let mut known = scene.roster.into_iter().flat_map(Roster::names);
    known.all(|name| {
        matches!(scene.observed.standing(name), Standing::Reporting | Standing::Stale | Standing::Fenced(_))
    })
}
