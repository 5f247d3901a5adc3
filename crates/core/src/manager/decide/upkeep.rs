//! Keeping the roster: handing it out, counting members in once they are complete, adding and dropping them.

use muster_api::names::Role;

use super::super::command::Action;
use super::super::election::relation;
use super::super::fencing::Standing;
use super::super::removal::hold_enough;
use super::super::report::{Application, Held, Report};
use super::super::requests::Directive;
use super::super::roster::{Change, Entry, Roster, voters};
use super::super::terms::Relation;
use super::scene::{Primary, Scene};
use super::{ANSWER_LIMIT, Decision};

/// Hands the newest roster to everyone who does not use it yet: to a primary only when it may count by it. Beside other
/// primaries it keeps it until then, or each would wait for another to know it first. An agent that was told to take it tells
/// its application by itself; it is told again only when that takes as long as an answer may.
pub(super) fn hand_out(scene: &Scene<'_>, roster: &Roster, decision: &mut Decision) {
    for (member, report) in scene.observed.reporting() {
        let kept = report.roster.as_ref().is_some_and(|own| own.is_at_least(roster));
        if leads(report) && !may_count_by(scene, roster, member) {
            if !kept && scene.observed.reporting().any(|(other, report)| other != member && leads(report)) {
                decision.order(scene, member, Action::KeepRoster);
            }
            continue;
        }
        if kept && Scene::in_use(report, roster) {
            continue;
        }
        let told = scene.observed.members.get(member).and_then(|seen| seen.roster_sent);
        match told.map(|told| told + ANSWER_LIMIT).filter(|again| kept && scene.now < *again) {
            Some(again) => decision.wake_at(again),
            None => decision.order(scene, member, Action::TakeRoster),
        }
    }
}

fn leads(report: &Report) -> bool {
    report.running().is_some_and(|running| running.role == Role::Primary)
}

/// Whether `member`, as primary, may count copies by this roster: enough voters of the one before know it, so that
/// nobody can complete a read set of theirs and not learn of it. The member itself keeps it before it counts.
pub(super) fn may_count_by(scene: &Scene<'_>, roster: &Roster, member: &str) -> bool {
    untold(scene, roster, member).is_empty()
}

/// The voters of the roster before that would have to learn of this one first.
pub(super) fn untold<'r>(scene: &Scene<'_>, roster: &'r Roster, member: &str) -> Vec<&'r Entry> {
    let Some(before) = roster.voters_before() else { return Vec::new() };
    let knows = |voter: &&Entry| {
        scene.observed.reporting().any(|(name, report)| {
            let kept = report.roster.as_ref().is_some_and(|own| own.is_at_least(roster));
            report.volume == voter.volume && (kept || name == member)
        })
    };
    let (told, untold): (Vec<&Entry>, Vec<&Entry>) = before.iter().copied().partition(knows);
    let copies = scene.wanted.engine.copies;
    if told.len() >= copies.told(before.len()) { Vec::new() } else { untold }
}

/// The next change of an acknowledged roster while a primary serves: one at a time.
pub(super) fn next_change(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    if !scene.acknowledged(roster) {
        return None;
    }
    if roster.before.is_some() {
        return copies_carried_over(scene, roster, primary).then(|| roster.settled());
    }
    new_voter(scene, roster, primary).or_else(|| new_member(scene, roster))
}

/// Whether what was acknowledged by the roster before has enough copies for this one. Where the voters changed, a
/// write that had all the copies asked for then may have too few now: the roster before is read too until enough of
/// these voters hold all that the primary held when it began to count by this roster.
fn copies_carried_over(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> bool {
    if roster.voters_before().is_none() {
        return true;
    }
    let floor = scene
        .observed
        .roster_floor
        .filter(|floor| floor.version >= roster.version && floor.term == primary.held.terms.current());
    let counted: Vec<&Entry> = roster.voters().collect();
    let copies = scene.wanted.engine.copies;
    floor.is_some_and(|floor| hold_enough(scene.observed, &counted, copies, floor.sequence, primary.report))
}

/// A member that has all the primary has, on a volume that does not vote yet: its copies count from now on. The
/// volume it had before, if any, stops counting with the same change.
fn new_voter(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> Option<Change> {
    let term = primary.held.terms.current();
    scene.observed.running().find_map(|(member, report, running)| {
        let entry = roster.entry(member)?;
        let votes = entry.voter && entry.volume == report.volume;
        let follows = running.term == term || scene.wanted.engine.elects;
        let whole = report.held().is_some_and(Held::counts) && running.synced && follows;
        (!votes && whole).then(|| roster.with_vote(member, &report.volume, true))
    })
}

/// A configured member that is not in the roster, heard, and not running.
fn new_member(scene: &Scene<'_>, roster: &Roster) -> Option<Change> {
    let strangers = scene.wanted.members.keys().filter(|name| scene.wanted.stays(name));
    let heard = strangers.filter(|name| roster.entry(name).is_none()).filter_map(|name| {
        let report = scene.observed.report_of(name)?;
        (report.application == Application::Stopped).then_some((name, report))
    });
    let first: Option<(&String, &Report)> = heard.min_by_key(|(name, _)| scene.wanted.order(name));
    first.map(|(name, report)| roster.adding(name, &report.volume))
}

/// How far the giving up of data has come that a person asked for.
pub(super) enum GivingUp {
    /// Nobody asked for it.
    NotAsked,
    /// It cannot be done yet.
    Waiting,
    /// This is the roster without it.
    Change(Change),
    /// Nothing of it counts any more.
    Done,
    /// It cannot be done, and why.
    Refused(String),
}

/// Gives up what a person said is gone (`forget`), or may be discarded (`rejoin`).
///
/// What only the given up volumes held is lost, and that is the person's word. What others hold is not: as in the
/// removal gate, enough of the voters that remain must have all that the primary has.
pub(super) fn give_up(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> GivingUp {
    match &scene.observed.directive {
        Some(Directive::Forget { members }) => forget(scene, roster, primary, members),
        Some(Directive::Rejoin { member }) => discard(scene, roster, primary, member),
        Some(Directive::Seed { member, .. }) if member == primary.name => go_on_alone(scene, roster, primary),
        Some(Directive::Seed { .. } | Directive::Switchover { .. }) | None => GivingUp::NotAsked,
    }
}

/// A person chose this primary, and no other voter has what it has: disks were exchanged, or hold something else. They lose the
/// vote, or no write would have enough copies again, and none of them could be forgotten or discarded while the others count.
/// Who is not heard, or cannot say what it holds, keeps the vote: it may come back.
fn go_on_alone(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>) -> GivingUp {
    let holder = |volume: &str| {
        let found = scene.observed.reporting().find(|(_, report)| report.volume == volume);
        found.map(|(_, report)| report)
    };
    let gone =
        |voter: &&Entry| holder(&voter.volume).is_none() && scene.observed.report_of(&voter.member).is_some();
    let differs = |voter: &&Entry| {
        let held = holder(&voter.volume).and_then(Report::held);
        held.is_some_and(|held| !held.counts() || relation(held, primary.held) == Relation::Errant)
    };
    let mut others = roster.voters().filter(|voter| voter.volume != primary.report.volume).peekable();
    let settled = roster.before.is_none() && others.peek().is_some();
    if !settled || !others.all(|voter| gone(&voter) || differs(&voter)) {
        return GivingUp::NotAsked;
    }
    let change = roster.alone(&primary.report.volume);
    // Those that are there hear of it before it counts; nobody will ever hear of it from a disk that is gone.
    let mut before = roster.entries.clone();
    for entry in before.iter_mut().filter(|entry| entry.voter && gone(&&**entry)) {
        entry.voter = false;
    }
    GivingUp::Change(Change { before: Some(before), ..change })
}

/// Members that surely do not run leave the roster; those that run on another volume lose the vote of the one they had.
fn forget(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, members: &[String]) -> GivingUp {
    let mut change = roster.settled();
    for member in members {
        let volumes = volumes_of(roster, member);
        if volumes.is_empty() {
            continue;
        }
        let present = scene.observed.report_of(member).map(|report| &report.volume);
        let has_another = |volume: &String| volumes.iter().any(|known| known != volume);
        match (surely_stopped(scene, member), present.filter(|volume| has_another(volume))) {
            (Ok(true), _) => change.entries.retain(|entry| entry.member != *member),
            (Ok(false), _) => return GivingUp::Waiting,
            (Err(_), Some(present)) => {
                let lost = |entry: &&mut Entry| entry.member == *member && entry.volume != *present;
                for entry in change.entries.iter_mut().filter(lost) {
                    entry.volume.clone_from(present);
                    entry.voter = false;
                }
            }
            (Err(why), None) => return GivingUp::Refused(why),
        }
    }
    if change.entries == roster.entries && roster.before.is_none() {
        return GivingUp::Done;
    }
    once_kept(scene, change, primary)
}

/// The vote goes first, then the data.
fn discard(scene: &Scene<'_>, roster: &Roster, primary: Primary<'_>, member: &str) -> GivingUp {
    let Some(report) = scene.observed.report_of(member) else {
        return GivingUp::Refused(format!("the agent of {member} is not heard"));
    };
    if !scene.wanted.stays(member) {
        return GivingUp::Refused(format!("{member} is leaving"));
    }
    if report.running().is_some_and(|running| running.term == primary.held.terms.current()) {
        let why = || format!("{member} runs and its copies count: nothing was discarded");
        return if counts(roster, member) { GivingUp::Refused(why()) } else { GivingUp::Done };
    }
    if report.application != Application::Stopped || !counts(roster, member) {
        return GivingUp::Waiting;
    }
    let change = Change { before: None, ..roster.with_vote(member, &report.volume, false) };
    once_kept(scene, change, primary)
}

/// The volumes by which the roster, or the one before, knows this member.
fn volumes_of<'r>(roster: &'r Roster, member: &str) -> Vec<&'r str> {
    let known = [Some(&roster.entries), roster.before.as_ref()].into_iter().flatten().flatten();
    known.filter(|entry| entry.member == *member).map(|entry| entry.volume.as_str()).collect()
}

/// Whether it is certain that this member does not run; false: not yet. An error says why it cannot be forgotten.
fn surely_stopped(scene: &Scene<'_>, member: &str) -> Result<bool, String> {
    if scene.observed.report_of(member).is_some_and(|report| report.application != Application::Stopped) {
        return Err(format!("{member} runs: disable or delete it instead"));
    }
    match scene.observed.standing(member) {
        Standing::Reporting | Standing::Fenced(_) => Ok(true),
        Standing::Stale | Standing::Undetermined | Standing::Unanswered => Ok(false),
        Standing::Silent { .. } => {
            let fence = format!("kubectl muster fence {} {member}", scene.wanted.cluster);
            Err(format!("nothing proves that {member} does not run: {fence}"))
        }
    }
}

/// The change, once enough of the voters that remain hold all that the primary held when it was last asked.
fn once_kept(scene: &Scene<'_>, change: Change, primary: Primary<'_>) -> GivingUp {
    let remaining: Vec<&Entry> = voters(&change.entries).collect();
    if remaining.is_empty() {
        return GivingUp::Refused("nobody would be left whose copies count".to_owned());
    }
    let floor = scene.observed.floor.filter(|floor| floor.round == scene.observed.round);
    let copies = scene.wanted.engine.copies;
    let kept = floor
        .is_some_and(|floor| hold_enough(scene.observed, &remaining, copies, floor.sequence, primary.report));
    if kept { GivingUp::Change(change) } else { GivingUp::Waiting }
}

/// Whether a copy of this member counts, in this roster or in the one before.
pub(super) fn counts(roster: &Roster, member: &str) -> bool {
    let known = [Some(&roster.entries), roster.before.as_ref()].into_iter().flatten().flatten();
    known.into_iter().any(|entry| entry.voter && entry.member == member)
}
