//! The roster: who was ever started on this cluster's data and has not left, and how many of them must be heard.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::stamp::Stamp;

/// How many members surely hold a write on disk when the client has its answer (`topology.acknowledgedCopies`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// That many, or all voters if there are fewer.
    Fixed(usize),
    /// More than half of the voters.
    Majority,
}

impl Copies {
    /// W: how many voters hold an acknowledged write when there are `voters` of them.
    pub fn written(self, voters: usize) -> usize {
        match self {
            Self::Fixed(copies) => copies.min(voters),
            Self::Majority => majority(voters),
        }
    }

    /// How many voters must be read so that one of them holds every acknowledged write.
    pub fn read(self, voters: usize) -> usize {
        let meets_every_write = (voters + 1).saturating_sub(self.written(voters)).max(1);
        match self {
            Self::Fixed(_) => meets_every_write,
            Self::Majority => meets_every_write.max(majority(voters)),
        }
    }

    /// How many voters must know a new roster so that every later read set contains one of them.
    pub fn told(self, voters: usize) -> usize {
        (voters + 1).saturating_sub(self.read(voters)).max(1).min(voters)
    }

    /// How many of the remaining voters must hold all that the primary holds before one may leave.
    pub fn kept(self, voters: usize) -> usize {
        self.written(voters).max(majority(voters))
    }
}

/// More than half.
fn majority(voters: usize) -> usize {
    if voters == 0 { 0 } else { voters / 2 + 1 }
}

/// One member of the roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The Member's name: by this it is accounted for.
    pub member: String,
    /// Its number in this cluster, from 1, never given twice.
    pub id: u32,
    /// The uuid of its volume: by this its data is known.
    pub volume: String,
    /// Whether its copies count.
    pub voter: bool,
}

/// A version of the roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Roster {
    /// Which data it is about: the volume on which the cluster was formed. A volume that comes from elsewhere names
    /// another, and is not believed.
    pub lineage: String,
    /// The number of the command that made it.
    pub version: Stamp,
    /// Its members.
    pub entries: Vec<Entry>,
    /// The members of the roster it replaces, until it is acknowledged: till then both must be able to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<Entry>>,
    /// The id that the next new member gets.
    pub next_id: u32,
}

impl Roster {
    /// The roster with which a cluster is formed: the seed alone, a voter at once.
    pub fn forming(version: Stamp, member: &str, volume: &str) -> Self {
        let seed = Entry { member: member.to_owned(), id: 1, volume: volume.to_owned(), voter: true };
        Self { lineage: volume.to_owned(), version, entries: vec![seed], before: None, next_id: 2 }
    }

    /// The entry of this member.
    pub fn entry(&self, member: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.member == member)
    }

    /// Every member that has to be accounted for: those of this roster and, until it is acknowledged, of the one
    /// before.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let earlier = self.before.iter().flatten().filter(|old| self.entry(&old.member).is_none());
        self.entries.iter().chain(earlier).map(|entry| entry.member.as_str())
    }

    /// The entries whose copies count.
    pub fn voters(&self) -> impl Iterator<Item = &Entry> {
        voters(&self.entries)
    }

    /// The voters of the roster before, if this one counts by others.
    pub fn voters_before(&self) -> Option<Vec<&Entry>> {
        let before = self.before.as_ref()?;
        let volumes =
            |entries| -> BTreeSet<&str> { voters(entries).map(|voter| voter.volume.as_str()).collect() };
        (volumes(before) != volumes(&self.entries)).then(|| voters(before).collect())
    }

    /// The change that adds this member, not yet a voter.
    #[must_use]
    pub fn adding(&self, member: &str, volume: &str) -> Change {
        let mut change = self.unchanged();
        let entry =
            Entry { member: member.to_owned(), id: self.next_id, volume: volume.to_owned(), voter: false };
        change.entries.push(entry);
        change.next_id += 1;
        change
    }

    /// The change that makes this member a voter on this volume, or stops it being one.
    #[must_use]
    pub fn with_vote(&self, member: &str, volume: &str, voter: bool) -> Change {
        let mut change = self.unchanged();
        for entry in change.entries.iter_mut().filter(|entry| entry.member == member) {
            volume.clone_into(&mut entry.volume);
            entry.voter = voter;
        }
        change
    }

    /// The change after which the copies on this volume are the only ones that count.
    #[must_use]
    pub fn alone(&self, volume: &str) -> Change {
        let mut change = self.unchanged();
        for entry in &mut change.entries {
            entry.voter &= entry.volume == volume;
        }
        change
    }

    /// The change that takes this member out.
    #[must_use]
    pub fn without(&self, member: &str) -> Change {
        let mut change = self.unchanged();
        change.entries.retain(|entry| entry.member != member);
        change
    }

    /// The change that ends the waiting for the roster before this one.
    #[must_use]
    pub fn settled(&self) -> Change {
        Change { before: None, ..self.unchanged() }
    }

    /// Whether this is the other roster, or a later one of the same lineage.
    pub fn is_at_least(&self, other: &Roster) -> bool {
        self.lineage == other.lineage && self.version >= other.version
    }

    fn unchanged(&self) -> Change {
        let (lineage, entries) = (self.lineage.clone(), self.entries.clone());
        Change { lineage, before: Some(entries.clone()), entries, next_id: self.next_id }
    }
}

/// The voters among these entries.
pub fn voters(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(|entry| entry.voter)
}

/// A roster that has no number yet: whoever issues it gives it the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which data it is about.
    pub lineage: String,
    /// The members from now on.
    pub entries: Vec<Entry>,
    /// The members until now, while those still have to be able to answer.
    pub before: Option<Vec<Entry>>,
    /// The id that the next new member gets.
    pub next_id: u32,
}

impl Change {
    /// This change as the roster with that number.
    pub fn issue(self, version: Stamp) -> Roster {
        let Self { lineage, entries, before, next_id } = self;
        Roster { lineage, version, entries, before, next_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster() -> Roster {
        Roster::forming(Stamp::new(1, 1), "a", "va")
    }

    #[test]
    fn quorums_of_a_majority() {
        let sizes = |n| (Copies::Majority.written(n), Copies::Majority.read(n), Copies::Majority.told(n));
        assert_eq!(
            [sizes(1), sizes(2), sizes(3), sizes(4), sizes(5)],
            [(1, 1, 1), (2, 2, 1), (2, 2, 2), (3, 3, 2), (3, 3, 3)]
        );
        assert_eq!(sizes(0), (0, 1, 0));
    }

    #[test]
    fn quorums_of_fixed_copies() {
        let sizes = |w, n| (Copies::Fixed(w).written(n), Copies::Fixed(w).read(n), Copies::Fixed(w).told(n));
        assert_eq!(
            [sizes(1, 3), sizes(2, 3), sizes(2, 1), sizes(3, 3)],
            [(1, 3, 1), (2, 2, 2), (1, 1, 1), (3, 1, 3)]
        );
        assert_eq!([Copies::Fixed(1).kept(3), Copies::Fixed(3).kept(4), Copies::Majority.kept(4)], [2, 3, 3]);
    }

    #[test]
    fn every_read_set_meets_every_write_and_everyone_told() {
        for voters in 1..20 {
            for copies in [Copies::Majority, Copies::Fixed(1), Copies::Fixed(2), Copies::Fixed(5)] {
                assert!(copies.read(voters) + copies.written(voters) > voters);
                assert!(copies.read(voters) + copies.told(voters) > voters);
                assert!(copies.read(voters) <= voters && copies.kept(voters) <= voters);
            }
        }
    }

    #[test]
    fn an_id_is_never_given_twice() {
        let two = roster().adding("b", "vb").issue(Stamp::new(1, 2));
        assert_eq!(two.entry("b").map(|entry| (entry.id, entry.voter)), Some((2, false)));
        let one = two.without("b").issue(Stamp::new(1, 3));
        assert!(one.entry("b").is_none());
        assert_eq!(one.adding("b", "vb").entries[1].id, 3);
    }

    #[test]
    fn until_settled_the_members_before_are_waited_for_too() {
        let two = roster().adding("b", "vb").issue(Stamp::new(1, 2));
        let one = two.without("b").issue(Stamp::new(1, 3));
        assert_eq!(one.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(one.settled().issue(Stamp::new(1, 4)).names().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_vote_names_the_volume_it_is_for() {
        let two = roster().adding("b", "vb").issue(Stamp::new(1, 2));
        let voting = two.with_vote("b", "vb2", true).issue(Stamp::new(1, 3));
        assert_eq!(voting.voters().map(|entry| entry.volume.as_str()).collect::<Vec<_>>(), ["va", "vb2"]);
        assert_eq!(voting.entry("a"), roster().entry("a"));
    }
}
