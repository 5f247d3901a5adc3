//! The terms a member's data has lived through: its place in an election, and whether it is a prefix of a primary.

use serde::{Deserialize, Serialize};

use super::stamp::Term;

/// How many terms a member remembers. A member that slept through more of them than this is treated as errant.
pub const MAX_TERMS: usize = 64;

/// One term and the first sequence that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermStart {
    /// The term.
    pub term: Term,
    /// The first sequence written in it.
    pub start: u64,
}

/// What decides an election: the newest term whose data a member can hold, then its sequence. Never sequence alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The highest term in the member's list that starts no later than one past its sequence.
    pub term: Option<Term>,
    /// The last sequence the member holds.
    pub sequence: u64,
}

/// How a member's data relates to the primary's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// All it holds is in the primary's past: it may join.
    Prefix,
    /// It is further in the primary's own term than the primary was when that was last heard of. Which of the two it is, more
    /// than that or only newer, the primary's next answer tells.
    Ahead,
    /// It holds something the primary does not have: it stays stopped, its volume untouched.
    Errant,
}

/// The terms of one member's data, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<TermStart>", into = "Vec<TermStart>")]
pub struct TermList(Vec<TermStart>);

impl From<Vec<TermStart>> for TermList {
    fn from(starts: Vec<TermStart>) -> Self {
        Self::new(starts)
    }
}

impl From<TermList> for Vec<TermStart> {
    fn from(list: TermList) -> Self {
        list.0
    }
}

impl TermList {
    /// A list of these terms, oldest first; only the last [`MAX_TERMS`] are kept.
    pub fn new(starts: impl IntoIterator<Item = TermStart>) -> Self {
        let mut list = Self(starts.into_iter().collect());
        list.shorten();
        list
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[TermStart] {
        &self.0
    }

    /// The term that was started last.
    pub fn current(&self) -> Option<Term> {
        self.0.last().map(|entry| entry.term)
    }

    /// Starts a term on data that ends at `sequence`.
    ///
    /// Entries that start above `sequence + 1` tell of data that this member never had (it took them over from a
    /// primary it never caught up with) and are dropped first: kept, they would vouch for what is not there.
    pub fn begin(&mut self, term: Term, sequence: u64) {
        let start = sequence.saturating_add(1);
        self.0.retain(|entry| entry.start <= start);
        self.0.push(TermStart { term, start });
        self.shorten();
    }

    /// The place in an election of data that ends at `sequence`.
    pub fn place(&self, sequence: u64) -> Place {
        let term =
            self.0.iter().filter(|entry| entry.start <= sequence.saturating_add(1)).map(|e| e.term).max();
        Place { term, sequence }
    }

    /// The term in which the entry at `sequence` was written.
    fn data_term(&self, sequence: u64) -> Option<Term> {
        self.0.iter().rev().find(|entry| entry.start <= sequence).map(|entry| entry.term)
    }

    /// How data with this list, ending at `sequence`, relates to a primary of the same history.
    pub fn relation(&self, sequence: u64, primary: &TermList, primary_sequence: u64) -> Relation {
        let Some(term) = self.data_term(sequence) else {
            // Nothing was ever written on top of the common beginning.
            return if sequence == 0 { Relation::Prefix } else { Relation::Errant };
        };
        let Some(at) = primary.0.iter().position(|entry| entry.term == term) else {
            return Relation::Errant;
        };
        match primary.0.get(at + 1) {
            Some(next) if sequence < next.start => Relation::Prefix,
            Some(_) => Relation::Errant,
            None if sequence <= primary_sequence => Relation::Prefix,
            None => Relation::Ahead,
        }
    }

    /// Keeps the list within its bound, giving up first what says nothing: a term that was followed by another before
    /// anything was written in it.
    fn shorten(&mut self) {
        while self.0.len() > MAX_TERMS {
            let idle = self.0.windows(2).position(|pair| pair[0].start == pair[1].start);
            self.0.remove(idle.unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stamp::Stamp;
    use super::*;

    fn term(n: u64) -> Term {
        Term::commanded(Stamp::new(1, n))
    }

    fn list(entries: &[(u64, u64)]) -> TermList {
        TermList::new(entries.iter().map(|&(n, start)| TermStart { term: term(n), start }))
    }

    #[test]
    fn a_place_counts_a_term_from_one_before_its_start() {
        let terms = list(&[(1, 1), (2, 5)]);
        assert_eq!(terms.place(3), Place { term: Some(term(1)), sequence: 3 });
        assert_eq!(terms.place(4), Place { term: Some(term(2)), sequence: 4 });
        assert!(terms.place(4) > terms.place(3));
        assert_eq!(TermList::default().place(9).term, None);
    }

    #[test]
    fn a_newer_term_beats_a_longer_log() {
        assert!(list(&[(1, 1), (2, 3)]).place(2) > list(&[(1, 1)]).place(50));
    }

    #[test]
    fn beginning_a_term_drops_what_was_never_reached() {
        let mut terms = list(&[(1, 1), (2, 4), (3, 9)]);
        terms.begin(term(4), 3);
        assert_eq!(terms, list(&[(1, 1), (2, 4), (4, 4)]));
        assert_eq!(terms.current(), Some(term(4)));
    }

    #[test]
    fn a_prefix_ends_below_the_next_term() {
        let primary = list(&[(1, 1), (2, 5)]);
        let old = list(&[(1, 1)]);
        assert_eq!(old.relation(4, &primary, 7), Relation::Prefix);
        assert_eq!(old.relation(5, &primary, 7), Relation::Errant);
        assert_eq!(primary.relation(7, &primary, 7), Relation::Prefix);
        assert_eq!(primary.relation(8, &primary, 7), Relation::Ahead);
    }

    #[test]
    fn an_unknown_term_is_errant_and_an_untouched_beginning_is_not() {
        let primary = list(&[(1, 1), (3, 2)]);
        assert_eq!(list(&[(1, 1), (2, 2)]).relation(2, &primary, 5), Relation::Errant);
        assert_eq!(list(&[(2, 1)]).relation(0, &primary, 5), Relation::Prefix);
        assert_eq!(TermList::default().relation(0, &primary, 5), Relation::Prefix);
        assert_eq!(TermList::default().relation(1, &primary, 5), Relation::Errant);
    }

    #[test]
    fn the_list_is_bounded_and_gives_up_idle_terms_first() {
        let mut terms = list(&[(1, 1)]);
        for n in 2..200 {
            terms.begin(term(n), 5);
        }
        assert_eq!(terms.entries().len(), MAX_TERMS);
        assert_eq!(terms.entries()[0].term, term(1));
        assert_eq!(terms.current(), Some(term(199)));
        let mut busy = TermList::default();
        for n in 1..=100 {
            busy.begin(term(n), n);
        }
        assert_eq!(busy.entries().len(), MAX_TERMS);
        assert_eq!(busy.entries()[0].term, term(37));
    }
}
