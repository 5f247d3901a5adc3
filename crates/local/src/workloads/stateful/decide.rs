//! What is to be done for a StatefulSet, from what is seen: no client, no clock.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{StatefulSetSpec, StatefulSetStatus};
use k8s_openapi::api::core::v1::Pod;

use super::identity::{ordinal, revision, says_so};
use crate::workloads::pods::{has_ended, is_available, is_ending, is_pending, runs_ready};

/// What is seen of a set.
pub(super) struct Seen<'a> {
    pub(super) name: &'a str,
    pub(super) spec: &'a StatefulSetSpec,
    /// What was last reported.
    pub(super) status: &'a StatefulSetStatus,
    /// It is being deleted: then nothing is done any more.
    pub(super) ends: bool,
    /// Its Pods.
    pub(super) pods: &'a [Pod],
    pub(super) update_revision: &'a str,
    pub(super) now: Timestamp,
}

/// From which revision a Pod is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Current,
    Update,
}

/// One thing to do.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Make the Pod of this number, and its claims before it.
    Create(i32, From),
    /// Make claims of this number's Pod that are missing: it waits for them.
    Claim(i32),
    /// Write on a Pod who it is.
    Identify(String),
    /// Delete a Pod that ended, or is one too many.
    Delete(String),
    /// Delete a Pod to make it anew from the newest revision.
    Update(String),
}

impl Seen<'_> {
    fn start(&self) -> i32 {
        self.spec.ordinals.as_ref().and_then(|ordinals| ordinals.start).unwrap_or(0)
    }

    fn replicas(&self) -> i32 {
        self.spec.replicas.unwrap_or(1)
    }

    fn min_ready(&self) -> i32 {
        self.spec.min_ready_seconds.unwrap_or(0)
    }

    /// One after the other, each when the one before it is available.
    fn in_order(&self) -> bool {
        self.spec.pod_management_policy.as_deref() != Some("Parallel")
    }

    /// From which number on Pods are updated; None: only those that someone deletes.
    fn partition(&self) -> Option<i32> {
        let strategy = self.spec.update_strategy.as_ref();
        if strategy.and_then(|strategy| strategy.type_.as_deref()) == Some("OnDelete") {
            return None;
        }
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        Some(rolling.and_then(|rolling| rolling.partition).unwrap_or(0))
    }

    /// From which revision a missing Pod is made: below the partition from the current one.
    fn from(&self, ordinal: i32) -> From {
        let strategy = self.spec.update_strategy.as_ref();
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        let kept = match (self.partition(), rolling) {
            (None, _) => 0,
            (Some(partition), Some(_)) => partition,
            (Some(_), None) => self.status.current_replicas.unwrap_or(0),
        };
        if ordinal < self.start().saturating_add(kept) { From::Current } else { From::Update }
    }

    fn is_unavailable(&self, pod: &Pod) -> bool {
        is_ending(pod) || !is_available(pod, self.min_ready(), self.now)
    }

    fn may_pass(&self, pod: &Pod) -> bool {
        !is_ending(pod) && runs_ready(pod) && is_available(pod, self.min_ready(), self.now)
    }

    /// The Pod of every wanted number.
    fn wanted(&self) -> Vec<(i32, Option<&Pod>)> {
        let first = self.start();
        let of = |wanted: i32| self.pods.iter().find(|pod| ordinal(self.name, pod) == Some(wanted));
        (first..first.saturating_add(self.replicas())).map(|ordinal| (ordinal, of(ordinal))).collect()
    }

    /// The Pods that are too many, the highest number first.
    fn condemned(&self) -> Vec<&Pod> {
        let range = self.start()..self.start().saturating_add(self.replicas());
        let numbered = self.pods.iter().filter_map(|pod| Some((ordinal(self.name, pod)?, pod)));
        let mut over: Vec<_> = numbered.filter(|(ordinal, _)| !range.contains(ordinal)).collect();
        over.sort_by_key(|(ordinal, _)| std::cmp::Reverse(*ordinal));
        over.into_iter().map(|(_, pod)| pod).collect()
    }
}

fn name(pod: &Pod) -> String {
    pod.metadata.name.clone().unwrap_or_default()
}

/// What to do now. What depends on it comes in a later pass, when it is seen to be done.
pub(super) fn decide(seen: &Seen<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    if seen.ends {
        return steps;
    }
    let wanted = seen.wanted();
    let condemned = seen.condemned();
    if keep(seen, &wanted, &mut steps) && shrink(seen, &condemned, &mut steps) {
        update(seen, &wanted, &mut steps);
    }
    steps
}

/// Makes what is missing; whether the rest of the work may go on.
fn keep(seen: &Seen<'_>, wanted: &[(i32, Option<&Pod>)], steps: &mut Vec<Step>) -> bool {
    for (ordinal, pod) in wanted {
        let passes = match pod {
            None => {
                steps.push(Step::Create(*ordinal, seen.from(*ordinal)));
                false
            }
            Some(pod) if has_ended(pod) => {
                if !is_ending(pod) {
                    steps.push(Step::Delete(name(pod)));
                }
                false
            }
            Some(pod) => {
                if is_pending(pod) {
                    steps.push(Step::Claim(*ordinal));
                }
                let passes = !seen.in_order() || seen.may_pass(pod);
                if passes && !says_so(pod) {
                    steps.push(Step::Identify(name(pod)));
                }
                passes
            }
        };
        if seen.in_order() && !passes {
            return false;
        }
    }
    true
}

/// Deletes what is too many; whether the rest of the work may go on.
fn shrink(seen: &Seen<'_>, condemned: &[&Pod], steps: &mut Vec<Step>) -> bool {
    // In order, all that are wanted are available here. The lowest of the rest that is not may go all the same: waiting
    // for it would be for ever.
    let first_down = condemned.iter().rev().find(|pod| seen.is_unavailable(pod)).map(|pod| name(pod));
    for pod in condemned {
        if seen.in_order() {
            let first = first_down.as_deref() == pod.metadata.name.as_deref();
            if !is_ending(pod) && (first || seen.may_pass(pod)) {
                steps.push(Step::Delete(name(pod)));
            }
            return false;
        }
        if !is_ending(pod) {
            steps.push(Step::Delete(name(pod)));
        }
    }
    true
}

/// Lets the highest Pod of an old revision be made anew, once all above it are available.
fn update(seen: &Seen<'_>, wanted: &[(i32, Option<&Pod>)], steps: &mut Vec<Step>) {
    let Some(partition) = seen.partition() else { return };
    for (index, (_, pod)) in wanted.iter().enumerate().rev() {
        let Some(pod) = pod else { return };
        if i32::try_from(index).is_ok_and(|index| index < partition) {
            return;
        }
        if revision(pod) != seen.update_revision && !is_ending(pod) {
            steps.push(Step::Update(name(pod)));
            return;
        }
        if seen.is_unavailable(pod) {
            return;
        }
    }
}
