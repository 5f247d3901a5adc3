//! Who is accounted for: of whom it is known that they do nothing that the manager does not know of.

use super::observed::{Observed, Seen};
use super::report::{Application, Instance};

/// The proof that a member does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// What kind of proof.
    pub kind: FenceKind,
    /// What it is known by: the same evidence seen again is not news.
    pub evidence: String,
    /// The round in which it was given or last confirmed.
    pub round: u64,
}

/// A proof as it comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// About whom.
    pub member: String,
    /// What kind of proof.
    pub kind: FenceKind,
    /// The run of the agent that it is about; none for one that holds for any.
    pub instance: Option<Instance>,
    /// What it is known by: the id of the container and when it ended, the taint, the person's request.
    pub evidence: String,
}

/// What proves that a member does not run. A missing Pod or Node object proves nothing, a lost stream neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceKind {
    /// Its agent confirmed the stop, and was not heard since.
    StopConfirmed,
    /// No container of its Pod runs; they were seen terminated for that run of the agent.
    Terminated,
    /// Its Node is tainted out-of-service.
    OutOfService,
    /// A person vouches for it.
    Person,
}

/// Whether a member is accounted for, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It reports under this epoch, and has done so in this round.
    Reporting,
    /// It does not run, proven in this round.
    Fenced(FenceKind),
    /// It reports, but not since someone's accounting last changed: it has to be asked again.
    Stale,
    /// A start was sent to it and not answered.
    Unanswered,
    /// It reports that it cannot tell whether its application runs.
    Undetermined,
    /// It is not heard, and nothing proves that it does not run. `expired`: there was a proof, before the last
    /// change.
    Silent {
        /// Whether an earlier proof has to be given again.
        expired: bool,
    },
}

impl Standing {
    /// Whether the member is accounted for.
    pub const fn accounted(self) -> bool {
        matches!(self, Self::Reporting | Self::Fenced(_))
    }
}

impl Observed {
    /// How this member stands in this round.
    pub fn standing(&self, member: &str) -> Standing {
        let Some(seen) = self.members.get(member) else { return Standing::Silent { expired: false } };
        match &seen.fence {
            Some(fence) if fence.round == self.round => return Standing::Fenced(fence.kind),
            Some(_) => return Standing::Silent { expired: true },
            None => {}
        }
        if seen.unanswered_start.is_some() {
            return Standing::Unanswered;
        }
        self.standing_by_report(seen)
    }

    fn standing_by_report(&self, seen: &Seen) -> Standing {
        match seen.report.as_ref() {
            Some(report) if seen.connected && report.epoch == self.epoch => match report.application {
                Application::Unknown => Standing::Undetermined,
                _ if seen.round == self.round => Standing::Reporting,
                _ => Standing::Stale,
            },
            _ => Standing::Silent { expired: false },
        }
    }
}

#[cfg(test)]
mod tests;
