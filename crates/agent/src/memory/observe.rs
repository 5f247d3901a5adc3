//! What an agent remembers because it saw it: that the data is whole, that its application took the lead without a command.

use muster_core::manager::stamp::{Stamp, Term};

use super::Memory;

/// The number of a member that no roster ever named: no real one has it.
const NOBODY: u32 = u32::MAX;

impl Memory {
    /// The application has all that the primary has; `leads`: because it is the primary. None: that is known already.
    #[must_use]
    pub fn with_whole_data(&self, leads: bool) -> Option<Self> {
        let lost = self.lost && !leads;
        let next = Self { complete: true, left: false, covered: false, lost, ..self.clone() };
        (next != *self).then_some(next)
    }

    /// The application is primary, and nobody told it to be: a term of this agent's own, newer than what it was told and equal to
    /// nobody else's.
    #[must_use]
    pub fn with_self_made_term(&self, sequence: u64) -> (Self, Term) {
        let last = self.last.map_or(Stamp::default(), |last| last.stamp);
        let term = Term::self_made(last, self.id.unwrap_or(NOBODY));
        let mut next = self.clone();
        if next.terms.current() != Some(term) {
            next.terms.begin(term, sequence);
            next.covered = false;
        }
        (next, term)
    }

    /// A new leader. None: it is not newer.
    #[must_use]
    pub fn with_epoch(&self, epoch: u64) -> Option<Self> {
        (epoch > self.epoch).then(|| Self { epoch, ..self.clone() })
    }
}
