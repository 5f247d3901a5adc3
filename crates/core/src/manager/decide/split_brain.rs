//! Rule 1: two views, or more primaries than wanted, for longer than a change of hands takes.

use std::collections::{BTreeMap, BTreeSet};

use muster_api::names::BlockedBy;

use super::super::command::Action;
use super::super::election::Obstacle;
use super::super::observed::{Observed, serves_as_primary};
use super::super::report::{Held, Report, Running};
use super::super::requests::Directive;
use super::super::stamp::{Stamp, Term};
use super::super::wanted::Wanted;
use super::scene::Scene;
use super::{Decision, Rule, SPLIT_LIMIT};

/// A primary, as this rule sees it.
struct Rival<'a> {
    name: &'a str,
    report: &'a Report,
    /// None: it cannot say what it holds, and is a primary all the same.
    held: Option<&'a Held>,
    running: &'a Running,
}

impl Rival<'_> {
    fn term(&self) -> Option<Term> {
        self.held.map_or(self.running.term, |held| held.terms.current())
    }

    fn sequence(&self) -> u64 {
        self.held.map_or(0, |held| held.sequence)
    }
}

/// Whether more than one view, or more primaries than wanted, are seen. The caller keeps since when.
pub(in super::super) fn is_split(observed: &Observed, wanted: &Wanted) -> bool {
    let rivals = rivals(observed);
    let views: BTreeSet<&str> = rivals.iter().filter_map(|rival| rival.running.view.as_deref()).collect();
    rivals.len() > wanted.primaries || views.len() > 1
}

/// Mends a split, waits to see whether it is one, or says that a person has to decide. None: there is no split.
pub(super) fn mend(scene: &Scene<'_>) -> Option<Decision> {
    let rivals = rivals(scene.observed);
    if !is_split(scene.observed, scene.wanted) {
        return None;
    }
    let mut decision = Decision::new(Rule::SplitBrain);
    let certain_at = scene.observed.split_since.unwrap_or(scene.now) + SPLIT_LIMIT;
    if scene.now < certain_at {
        decision.wake_at(certain_at);
        return Some(decision);
    }
    let sides = views(&rivals);
    if is_one_side(&rivals, &sides) {
        demote_one(scene, &rivals, &mut decision);
        return Some(decision);
    }
    match survivor(scene, &rivals, &sides) {
        Ok(stays) => {
            for rival in rivals.iter().filter(|rival| side(rival) != stays) {
                decision.order(scene, rival.name, Action::Stop);
            }
        }
        Err(by) => {
            let members = rivals.iter().map(|rival| rival.name.to_owned()).collect();
            decision.blocked = Some(Obstacle { by, members });
        }
    }
    Some(decision)
}

/// Whether primaries are on different sides, and not only too many on one.
pub(in super::super) fn are_apart(observed: &Observed) -> bool {
    let rivals = rivals(observed);
    !is_one_side(&rivals, &views(&rivals))
}

fn is_one_side(rivals: &[Rival<'_>], sides: &BTreeMap<String, Option<Term>>) -> bool {
    sides.len() == 1 && rivals.iter().all(|rival| rival.running.view.is_some())
}

/// The term in which clients are served while primaries are on different sides: the newest that anyone was ever commanded
/// to begin, as long as somebody serves in it; once it is `certain` that this is no change of hands, as long as one side
/// alone does. What an application began by itself is no reason to send anyone there.
pub(in super::super) fn undisputed(observed: &Observed, certain: bool) -> Option<Term> {
    let rivals = rivals(observed);
    let all = observed.reporting().filter_map(|(_, report)| report.held());
    let known = all.flat_map(|held| held.terms.entries()).map(|entry| entry.term);
    let commanded = known.filter(|term| term.is_commanded()).max();
    let serves = |rival: &&Rival<'_>| commanded.is_some() && rival.term() == commanded;
    let theirs: BTreeSet<String> = rivals.iter().filter(serves).map(side).collect();
    commanded.filter(|_| theirs.len() == 1 || !certain && !theirs.is_empty())
}

fn rivals(observed: &Observed) -> Vec<Rival<'_>> {
    let serving = observed.running().filter(|(_, report, _)| serves_as_primary(report));
    serving.map(|(name, report, running)| Rival { name, report, held: report.held(), running }).collect()
}

/// The side a primary is on: its view, or itself alone where the software has no views.
fn side(rival: &Rival<'_>) -> String {
    rival.running.view.clone().unwrap_or_else(|| rival.name.to_owned())
}

/// The newest term of every side.
fn views(rivals: &[Rival<'_>]) -> BTreeMap<String, Option<Term>> {
    let mut sides = BTreeMap::new();
    for rival in rivals {
        let newest: &mut Option<Term> = sides.entry(side(rival)).or_default();
        *newest = (*newest).max(rival.term());
    }
    sides
}

/// The side that stays: the one a person chose, or the one whose term was commanded and is newest.
fn survivor(
    scene: &Scene<'_>,
    rivals: &[Rival<'_>],
    sides: &BTreeMap<String, Option<Term>>,
) -> Result<String, BlockedBy> {
    if let Some(Directive::Seed { member, .. }) = &scene.observed.directive
        && let Some(chosen) = rivals.iter().find(|rival| rival.name == member)
    {
        return Ok(side(chosen));
    }
    let histories: BTreeSet<Option<&str>> =
        rivals.iter().map(|rival| rival.held.map(|held| held.history.as_str())).collect();
    if histories.len() > 1 {
        return Err(BlockedBy::HistoryDiffers);
    }
    let newest = sides.values().max().copied().flatten();
    let mut leading = sides.iter().filter(|(_, term)| **term == newest);
    match (newest, leading.next(), leading.next()) {
        (Some(term), Some((side, _)), None) if term.is_commanded() => Ok(side.clone()),
        _ => Err(BlockedBy::EqualTerms),
    }
}

/// Too many primaries within one view: one is demoted, the last commanded first, then the one that holds least, then
/// the one that comes last.
fn demote_one(scene: &Scene<'_>, rivals: &[Rival<'_>], decision: &mut Decision) {
    let commanded = |rival: &Rival<'_>| rival.report.last.map_or(Stamp::default(), |last| last.stamp);
    let enabled = rivals.iter().filter(|rival| !scene.wanted.disabled(rival.name));
    let last = enabled.max_by(|a, b| {
        let by_command = commanded(a).cmp(&commanded(b));
        let by_sequence = b.sequence().cmp(&a.sequence());
        let by_order = scene.wanted.order(a.name).cmp(&scene.wanted.order(b.name));
        by_command.then(by_sequence).then(by_order)
    });
    if let Some(rival) = last {
        let action = if scene.wanted.engine.demotes { Action::Demote } else { Action::Stop };
        decision.order(scene, rival.name, action);
    }
}
