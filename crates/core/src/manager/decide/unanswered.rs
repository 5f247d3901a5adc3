//! Commands that were not answered, and processes that make no progress: both end with a confirmed stop.

use super::super::command::Action;
use super::super::report::{Activity, Application};
use super::scene::Scene;
use super::{ANSWER_LIMIT, Decision, Order};

/// A start that was not answered in time may have arrived, or may still arrive: the member is told to stop, by a
/// later number, after which the start is void. Other commands are simply decided again.
pub(super) fn settle(scene: &Scene<'_>, decision: &mut Decision) {
    for (member, seen) in &scene.observed.members {
        if seen.pending.is_none() && seen.unanswered_start.is_none() {
            continue;
        }
        let limit = seen.last_sent.unwrap_or(scene.now) + ANSWER_LIMIT;
        if scene.now < limit {
            decision.wake_at(limit);
        } else if seen.unanswered_start.is_some()
            && let Some(report) = scene.observed.report_of(member)
        {
            let order = Order { member: member.clone(), instance: report.instance, action: Action::Stop };
            decision.orders.push(order);
        }
    }
}

/// A live process is stopped as failed only after it made no progress for the engine's stall timeout.
pub(super) fn stop_stalled(scene: &Scene<'_>, decision: &mut Decision) {
    let limit = scene.wanted.engine.stall_timeout;
    for (member, _, running) in scene.observed.running() {
        let busy = matches!(running.activity, Activity::Starting | Activity::Joining | Activity::Failed);
        if !busy || decision.orders.iter().any(|order| order.member == member) {
            continue;
        }
        if scene.observed.idle_for(member, scene.now) >= limit {
            decision.order(scene, member, Action::Stop);
        } else if let Some(since) = scene.observed.members.get(member).and_then(|seen| seen.progressed) {
            decision.wake_at(since + limit);
        }
    }
}

/// Orders every running application to stop; true when none runs any more.
pub(super) fn stop_all(scene: &Scene<'_>, decision: &mut Decision) -> bool {
    let running: Vec<&str> = scene.observed.running().map(|(member, _, _)| member).collect();
    for member in &running {
        decision.order(scene, member, Action::Stop);
    }
    let unknown = scene.observed.reporting().any(|(_, report)| report.application == Application::Unknown);
    running.is_empty() && !unknown
}
