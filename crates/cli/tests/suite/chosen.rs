//! Whoever is chosen after an outage had most. The disks tell: status is often written only when a choice is carried out, or never.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use muster_agent::memory::{Memory, file};
use muster_ledger::log::Log;

use super::software::Software;
use super::{Cluster, PATIENCE};

/// How often it is looked: often enough to see who was chosen before anyone has joined.
const LOOK_CLOSELY: Duration = Duration::from_millis(2);

/// A term in its order: by epoch, then by number, then by who made it without a command.
type Term = Vec<u64>;
/// A place in an election.
type Place = (Option<Term>, u64);

/// The disks of members among whom is chosen.
pub(crate) struct Disks<'a> {
    cluster: &'a Cluster,
    disks: Vec<Disk>,
}

struct Disk {
    member: String,
    volume: PathBuf,
}

/// A choice that is still to be made: everyone is dead, so what is on a disk stays there until its member is started.
pub(crate) struct Choice<'a> {
    all: &'a Disks<'a>,
    /// The newest term until now.
    before: Option<Term>,
}

impl Cluster {
    /// The disks of these members.
    pub(crate) fn disks(&self, members: Vec<String>) -> Disks<'_> {
        let disk = |member: String| Disk { volume: self.volume(&member), member };
        Disks { cluster: self, disks: members.into_iter().map(disk).collect() }
    }
}

impl Disks<'_> {
    /// The choice that comes next.
    pub(crate) fn next_choice(&self) -> Choice<'_> {
        Choice { all: self, before: self.disks.iter().filter_map(|disk| newest(&disk.memory()?)).max() }
    }
}

impl Choice<'_> {
    /// Waits until someone is chosen, who has as much as each of the others of whom it can be told; how many these are. Whoever has joined
    /// already tells nothing, and when clients are served again it is too late.
    pub(crate) fn is_of_the_most_advanced(&self, is_over: impl Fn() -> bool) -> usize {
        let began = Instant::now();
        loop {
            let over = is_over();
            let is_newer = |memory: &Memory| newest(memory) > self.before;
            let disks = self.all.disks.iter();
            let known = disks.filter_map(|disk| Some((disk, disk.memory().filter(is_newer)?)));
            match &known.collect::<Vec<_>>()[..] {
                [(chosen, memory)] => return self.had_most(chosen, memory),
                [] if !over && began.elapsed() < PATIENCE => std::thread::park_timeout(LOOK_CLOSELY),
                _ => return 0,
            }
        }
    }

    /// With how many others it could be compared.
    fn had_most(&self, chosen: &Disk, memory: &Memory) -> usize {
        let Some((begun, earlier)) = memory.terms.entries().split_last() else { return 0 };
        // What it writes from now on belongs to its term.
        let sequence = begun.start.saturating_sub(1);
        let lived = earlier.iter().filter(|entry| entry.start <= begun.start).map(|entry| order(entry.term));
        let most: Place = (lived.max(), sequence);
        let others = self.all.disks.iter().filter(|disk| disk.member != chosen.member);
        let compared = others.map(|disk| {
            let place = self.place_on(disk)?;
            let Disk { member, .. } = chosen;
            assert!(place <= most, "{member} was chosen with {most:?}, and {} has {place:?}", disk.member);
            Some(place)
        });
        let compared: Vec<_> = compared.collect();
        println!("{} was chosen with {most:?}, others had {compared:?}", chosen.member);
        compared.iter().flatten().count()
    }

    /// The place of a member that has not been started since; none if it has, or what it has cannot be read.
    fn place_on(&self, disk: &Disk) -> Option<Place> {
        let waits = || disk.memory().filter(|memory| newest(memory) <= self.before && memory.complete);
        let memory = waits()?;
        let sequence = match self.all.cluster.software {
            Software::Ledger => Log::look(&disk.volume.join("data")).ok()??.position().sequence,
            Software::Galera => self.all.cluster.saved_position(&disk.member)?.1,
        };
        // It is told the new term before it is started.
        waits()?;
        let place = memory.terms.place(sequence);
        Some((place.term.map(order), place.sequence))
    }
}

impl Disk {
    /// What its agent remembers; none where that is being replaced, again and again.
    fn memory(&self) -> Option<Memory> {
        let path = self.volume.join(".muster/state");
        read(&path).or_else(|| read(&path))
    }
}

fn read(path: &Path) -> Option<Memory> {
    file::read(&fs::read(path).ok()?).ok()
}

fn newest(memory: &Memory) -> Option<Term> {
    memory.terms.entries().iter().map(|entry| order(entry.term)).max()
}

/// A term as text, or as a text within JSON.
pub(super) fn order(term: impl Display) -> Term {
    let text = term.to_string();
    let numbers = text.split(|character: char| !character.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}
