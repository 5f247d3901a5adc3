//! Rule 5: nothing was ever there. The first member seeds a new history.

use muster_api::names::BlockedBy;

use super::super::command::Action;
use super::super::election::Obstacle;
use super::super::report::Report;
use super::super::requests::Directive;
use super::super::roster::Roster;
use super::super::wanted::Mark;
use super::scene::Scene;
use super::{Decision, Effect, Rule, recover, roster_of_one};

pub(super) fn form(scene: &Scene<'_>) -> Decision {
    let mut decision = Decision::new(Rule::Form);
    if let Some(roster) = scene.roster
        && !unfinished_forming(scene, roster)
    {
        decision.rule = Rule::Recover;
        form_anew(scene, Some(roster), &mut decision);
        return decision;
    }
    let silent: Vec<String> = configured(scene)
        .filter(|name| scene.observed.report_of(name).is_none() && !never_bound(scene, name))
        .map(str::to_owned)
        .collect();
    let marks = &scene.wanted.formed;
    match (marks.found.first(), marks.found.len()) {
        (None, _) if silent.is_empty() => mark_first(scene, &mut decision),
        (Some(mark), 1) if seed_is_untouched(scene, mark) => {
            if !silent.is_empty() {
                decision.waiting = silent;
            } else if marks.some_unmarked {
                decision.effects.push(Effect::MarkFormed(mark.clone()));
            } else {
                seed(scene, mark, &mut decision);
            }
        }
        (Some(_), _) => {
            decision.rule = Rule::Recover;
            form_anew(scene, None, &mut decision);
        }
        (None, _) => decision.waiting = silent,
    }
    decision
}

/// A cluster that was formed once, and of which nothing is left that reports: only a person can say that this is so.
pub(super) fn form_anew(scene: &Scene<'_>, roster: Option<&Roster>, decision: &mut Decision) {
    decision.ask = scene.someone_is_to_be_asked();
    let expected: Vec<&str> = match roster {
        Some(roster) => roster.names().collect(),
        None => configured(scene).collect(),
    };
    let unaccounted = expected.into_iter().filter(|name| !scene.observed.standing(name).accounted());
    let (heard, silent): (Vec<&str>, Vec<&str>) =
        unaccounted.partition(|name| scene.observed.report_of(name).is_some());
    if !silent.is_empty() {
        let members = silent.into_iter().map(str::to_owned).collect();
        decision.blocked = Some(Obstacle { by: BlockedBy::MemberMissing, members });
    } else if !heard.is_empty() {
        decision.waiting = heard.into_iter().map(str::to_owned).collect();
    } else if let Some(Directive::Seed { member, accept_data_loss: true }) = &scene.observed.directive
        && let Some(report) = scene.commandable(member)
    {
        decision.roster = Some(roster_of_one(roster, member, &report.volume));
        decision.order(scene, member, Action::Seed { forming: report.is_empty() });
    } else {
        if let Some(Directive::Seed { member, accept_data_loss: false }) = &scene.observed.directive {
            recover::refuse_unfit(member, decision);
        }
        let members = scene.observed.reporting().map(|(name, _)| name.to_owned()).collect();
        decision.blocked = Some(Obstacle { by: BlockedBy::AllEmpty, members });
    }
}

/// Chooses the seed, for good: the mark names it.
fn mark_first(scene: &Scene<'_>, decision: &mut Decision) {
    let heard = configured(scene).filter_map(|name| Some((name, scene.observed.report_of(name)?)));
    let (disabled, able): (Vec<_>, Vec<_>) = heard.partition(|(name, _)| scene.wanted.disabled(name));
    let Some((name, report)) = able.into_iter().min_by_key(|(name, _)| scene.wanted.order(name)) else {
        decision.waiting = configured(scene).map(str::to_owned).collect();
        blocked_by_disabled(disabled.iter().map(|(name, _)| *name), decision);
        return;
    };
    decision
        .effects
        .push(Effect::MarkFormed(Mark { member: name.to_owned(), volume: report.volume.clone() }));
}

fn blocked_by_disabled<'a>(members: impl Iterator<Item = &'a str>, decision: &mut Decision) {
    let members: Vec<String> = members.map(str::to_owned).collect();
    if !members.is_empty() {
        decision.blocked = Some(Obstacle { by: BlockedBy::MemberDisabled, members });
    }
}

fn seed(scene: &Scene<'_>, mark: &Mark, decision: &mut Decision) {
    if scene.wanted.disabled(&mark.member) {
        blocked_by_disabled(std::iter::once(mark.member.as_str()), decision);
        return;
    }
    let failed = &scene.observed.failed_seeds;
    if failed.members.contains(&mark.member) && scene.now < failed.retry_at() {
        decision.no_seed = Some(failed.retry_at());
        decision.wake_at(failed.retry_at());
        return;
    }
    if scene.roster.is_none() {
        decision.roster = Some(roster_of_one(None, &mark.member, &mark.volume));
    }
    decision.order(scene, &mark.member, Action::Seed { forming: true });
}

/// Whether nothing was ever served from the volume that the mark names.
fn seed_is_untouched(scene: &Scene<'_>, mark: &Mark) -> bool {
    let report = scene.observed.report_of(&mark.member);
    report.is_some_and(|report| report.volume == mark.volume && never_served(report))
}

fn never_served(report: &Report) -> bool {
    report.held().is_some_and(|held| held.empty && !held.complete)
}

/// Whether the roster is that of a forming seed that was started and never served: it may be started again.
fn unfinished_forming(scene: &Scene<'_>, roster: &Roster) -> bool {
    let [seed] = roster.entries.as_slice() else { return false };
    let mark = Mark { member: seed.member.clone(), volume: seed.volume.clone() };
    scene.wanted.formed.found.contains(&mark) && seed_is_untouched(scene, &mark)
}

fn configured<'a>(scene: &Scene<'a>) -> impl Iterator<Item = &'a str> {
    let wanted = scene.wanted;
    wanted.members.keys().map(String::as_str).filter(|name| wanted.stays(name))
}

fn never_bound(scene: &Scene<'_>, name: &str) -> bool {
    scene.wanted.members.get(name).is_some_and(|member| member.never_bound)
}
