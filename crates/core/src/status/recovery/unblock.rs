//! The command that would unblock a recovery, and, behind a `#` so that the line can be run as it is, what it costs.

use std::collections::BTreeMap;

use muster_api::limits;
use muster_api::names::{BlockedBy, LABEL_MEMBER};

use super::super::view::Picture;
use super::missing;
use crate::conditions;
use crate::manager::decide::Rule;
use crate::manager::report::{Held, Report};
use crate::manager::terms::Place;

/// How many alternatives a person is shown: more than two histories are rare, more than four are noise.
const ALTERNATIVES: usize = 4;

/// The command, or one command in a line where a person has to choose.
pub fn unblock(picture: &Picture<'_>) -> Option<String> {
    let decision = picture.view.decision;
    if decision.no_seed.is_some() {
        return Some(conditions::message(after_no_seed(picture)));
    }
    let Some(obstacle) = &decision.blocked else { return quorum_lost(picture).map(conditions::message) };
    let members: Vec<&str> = obstacle.members.iter().map(String::as_str).collect();
    let text = match obstacle.by {
        BlockedBy::MemberMissing | BlockedBy::SeedUnconfirmed => fence(picture, &members),
        BlockedBy::DataMissing => seed_without(picture, &members),
        BlockedBy::RestoreReplicas => lower_the_count(picture),
        BlockedBy::HistoryDiffers => choose_history(picture, &members),
        BlockedBy::EqualTerms => choose_primary(picture, &members),
        BlockedBy::MemberDisabled => enable(picture, &members),
        BlockedBy::AllEmpty => form_anew(picture),
    };
    Some(conditions::message(text))
}

/// Software that elects by itself finds a quorum by itself, or never: then only a person can say with whom to go on.
fn quorum_lost(picture: &Picture<'_>) -> Option<String> {
    let waits = picture.view.wanted.engine.elects && picture.view.decision.rule == Rule::FailOver;
    let (best, _) = most_advanced(&voters(picture), picture).filter(|_| waits)?;
    Some(format!("{} # only if the others are lost for good: it goes on alone", recover(picture, best)))
}

/// All at once: a fence given before another change must be given again.
fn fence(picture: &Picture<'_>, blocking: &[&str]) -> String {
    let cluster = &picture.view.wanted.cluster;
    let mut members = blocking.to_vec();
    members.extend(missing(picture).into_iter().filter(|name| !blocking.contains(name)));
    let why = "only when you made sure that none of them runs";
    let whole = format!("kubectl muster fence {cluster} {} # {why}", members.join(" "));
    if whole.chars().count() <= usize::try_from(limits::MESSAGE_MAX).unwrap_or(0) / 2 {
        return whole;
    }
    // A command that is cut is no command: the shell fills in the list that status has in full.
    let list = format!("$(kubectl get rcl {cluster} -o jsonpath='{{.status.recovery.missing[*]}}')");
    format!("kubectl muster fence {cluster} {list} # {why}")
}

/// The most advanced that may seed, and whose data is missing then.
fn seed_without(picture: &Picture<'_>, unread: &[&str]) -> String {
    let cluster = &picture.view.wanted.cluster;
    let lost = conditions::names(unread);
    if let Some((best, _)) = most_advanced(&voters(picture), picture) {
        return format!("{} # what only {lost} hold is lost", recover(picture, best));
    }
    let holders: Vec<(&str, &Held)> = heard(picture).filter(|(_, held)| !held.empty).collect();
    match most_advanced(&holders, picture) {
        Some((best, _)) => {
            let command = recover(picture, best);
            format!("{command} --accept-data-loss # no complete copy is there; what {best} lacks is lost")
        }
        None => format!("bring back {lost}: no member of {cluster} that is heard holds any data"),
    }
}

/// A person's value is higher than what is configured.
fn lower_the_count(picture: &Picture<'_>) -> String {
    let cluster = &picture.view.wanted.cluster;
    let set = picture.view.wanted.restore.unwrap_or_default();
    let configured = picture.staying().len();
    let why = format!("restoreReplicas was set to {set} by hand, {configured} members are configured");
    if configured == 0 {
        return format!("raise a pool of {cluster} above 0: {why}");
    }
    format!("kubectl muster recover {cluster} --replicas {configured} # {why}")
}

/// One line for each history: its most advanced member.
fn choose_history(picture: &Picture<'_>, members: &[&str]) -> String {
    let mut histories: BTreeMap<&str, Vec<(&str, &Held)>> = BTreeMap::new();
    for (name, held) in heard(picture).filter(|(name, held)| members.contains(name) && held.counts()) {
        histories.entry(held.history.as_str()).or_default().push((name, held));
    }
    let choices = histories.iter().filter_map(|(history, holders)| {
        let names: Vec<&str> = holders.iter().map(|(name, _)| *name).collect();
        let (best, _) = most_advanced(holders, picture)?;
        Some(format!(
            "{} # keeps history {history:?} of {}",
            recover(picture, best),
            conditions::names(&names)
        ))
    });
    alternatives(choices.collect(), "repair or remove the member whose history differs")
}

/// One line for each primary. Those that it shares a view with stay with it.
fn choose_primary(picture: &Picture<'_>, rivals: &[&str]) -> String {
    let view = |name: &str| picture.view.observed.report_of(name)?.running()?.view.as_deref();
    let stays =
        |name: &str, other: &str| name == other || (view(name).is_some() && view(name) == view(other));
    let choices = rivals.iter().map(|name| {
        let others: Vec<&str> = rivals.iter().filter(|other| !stays(name, other)).copied().collect();
        let cost = format!("stops the others ({}), their data is kept as errant", conditions::names(&others));
        format!("{} # {cost}", recover(picture, name))
    });
    alternatives(choices.collect(), "stop all primaries but one")
}

fn enable(picture: &Picture<'_>, members: &[&str]) -> String {
    let cluster = &picture.view.wanted.cluster;
    match members.first() {
        Some(first) => {
            format!(
                "kubectl muster enable {cluster} {first} # it alone is the most advanced, and it is disabled"
            )
        }
        None => format!("enable a member of {cluster}"),
    }
}

/// Everyone is empty, though the cluster was formed once.
fn form_anew(picture: &Picture<'_>) -> String {
    let observed = picture.view.observed;
    let heard = picture.enabled().into_iter().find(|name| observed.report_of(name).is_some());
    match heard {
        Some(first) => {
            let command = recover(picture, first);
            format!("{command} --accept-data-loss # forms a new, empty cluster: all earlier data is given up")
        }
        None => "start a member: none that is enabled is heard".to_owned(),
    }
}

/// Someone who was not tried in vain, though it holds less; else a new run of those who were.
fn after_no_seed(picture: &Picture<'_>) -> String {
    let failed = &picture.view.observed.failed_seeds.members;
    let untried: Vec<(&str, &Held)> =
        voters(picture).into_iter().filter(|(name, _)| !failed.contains(*name)).collect();
    if let Some((best, place)) = most_advanced(&untried, picture) {
        return format!(
            "{} # it ends at sequence {}; what is newer is lost",
            recover(picture, best),
            place.sequence
        );
    }
    match failed.first() {
        Some(first) => {
            format!("kubectl delete pod -l {LABEL_MEMBER}={first} # a new run of its agent starts over")
        }
        None => "a new report, a restarted Pod or a request starts over".to_owned(),
    }
}

fn recover(picture: &Picture<'_>, seed: &str) -> String {
    format!("kubectl muster recover {} --seed {seed}", picture.view.wanted.cluster)
}

fn alternatives(choices: Vec<String>, otherwise: &str) -> String {
    match choices.as_slice() {
        [] => otherwise.to_owned(),
        _ => choices.into_iter().take(ALTERNATIVES).collect::<Vec<_>>().join("\n"),
    }
}

/// Those who are heard and whose data can be read.
fn heard<'a>(picture: &Picture<'a>) -> impl Iterator<Item = (&'a str, &'a Held)> {
    let reporting = picture.view.observed.reporting();
    reporting.filter_map(|(name, report)| Some((name, report.held()?)))
}

/// Those whose data may seed on a person's word: complete, on the volume that votes.
fn voters<'a>(picture: &Picture<'a>) -> Vec<(&'a str, &'a Held)> {
    let observed = picture.view.observed;
    let Some(roster) = observed.roster() else { return Vec::new() };
    let votes = |report: &Report| roster.voters().any(|voter| voter.volume == report.volume);
    let reports = observed.reporting().filter(|(_, report)| votes(report));
    reports.filter_map(|(name, report)| Some((name, report.held().filter(|held| held.counts())?))).collect()
}

/// The enabled member of the highest place; among equals the first in order.
fn most_advanced<'a>(of: &[(&'a str, &Held)], picture: &Picture<'_>) -> Option<(&'a str, Place)> {
    let wanted = picture.view.wanted;
    let enabled = of.iter().filter(|(name, _)| !wanted.disabled(name));
    let best = enabled.min_by_key(|(name, held)| (std::cmp::Reverse(held.place()), wanted.order(name)))?;
    Some((best.0, best.1.place()))
}
