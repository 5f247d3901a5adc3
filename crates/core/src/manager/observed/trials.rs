//! Members that were told to begin a term: whether they came to serve, and how long to wait before trying again.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::super::report::{Application, Instance, Report};
use super::super::stamp::Stamp;
use super::{Observed, serves_as_primary};

/// The first pause after a start failed; it doubles with every further one.
pub const RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// The longest such pause.
pub const MAX_RETRY_PAUSE: SignedDuration = SignedDuration::from_mins(10);
/// After so many failures the pause is at its longest.
const MOST_DOUBLINGS: u32 = 6;

/// A member that was told to begin a term and has not been seen serving in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The member.
    pub member: String,
    /// The run of its agent.
    pub instance: Instance,
    /// The command.
    pub stamp: Stamp,
}

/// Members that were tried and did not come to serve.
#[derive(Clone, Debug, Default)]
pub struct FailedSeeds {
    /// Who.
    pub members: BTreeSet<String>,
    /// How many in a row, over all starts from the beginning: the pause grows with it.
    pub attempts: u32,
    /// When the last one failed.
    pub last: Option<Timestamp>,
}

impl FailedSeeds {
    /// When they may be tried again.
    pub fn retry_at(&self) -> Timestamp {
        self.last.map_or(Timestamp::MIN, |last| last + retry_pause(self.attempts))
    }
}

/// How long to wait after so many failures in a row.
pub fn retry_pause(failures: u32) -> SignedDuration {
    let doublings = failures.saturating_sub(1).min(MOST_DOUBLINGS);
    RETRY_PAUSE.saturating_mul(1 << doublings).min(MAX_RETRY_PAUSE)
}

impl Observed {
    pub(super) fn begin_trial(&mut self, trial: Trial, now: Timestamp) {
        if self.failed_seeds.retry_at() <= now {
            self.failed_seeds.members.clear();
        }
        self.trial = Some(trial);
    }

    /// One that is stopped again, or could not do it, has failed; one that serves has not. A lost answer, or a long
    /// silence, is neither.
    pub(super) fn judge_trial(&mut self, member: &str, report: &Report, now: Timestamp) {
        let Some(trial) = self.trial.as_ref().filter(|trial| trial.member == member) else { return };
        let other_run = trial.instance != report.instance;
        let obeyed = report.last.is_some_and(|last| last.stamp >= trial.stamp);
        let refused = report.last.is_some_and(|last| last.stamp == trial.stamp && !last.succeeded);
        let stopped = report.application == Application::Stopped && (obeyed || other_run);
        if stopped || refused {
            self.failed_seeds.members.insert(member.to_owned());
            self.failed_seeds.attempts = self.failed_seeds.attempts.saturating_add(1);
            self.failed_seeds.last = Some(now);
            self.trial = None;
        } else if obeyed && serves_as_primary(report) {
            self.failed_seeds = FailedSeeds::default();
            self.trial = None;
        }
    }
}
