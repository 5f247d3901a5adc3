//! The members: role, what each holds, how far it is behind, what it has free, and why it is not ready.
//!
//! A running member's sequence moves all the time and is written only when something else about it changes, so the
//! difference of two of them is no lag. Who is behind is said by Healthy; a number is given only of one that stands still.

use kube::ResourceExt;
use muster_api::Member;
use muster_api::member::{DesiredState, MemberStatus};
use muster_api::names::{ConditionType, MEMBER_CONDITIONS, Reason, Role};
use muster_core::conditions;

use super::Facts;
use crate::print::table::{Cell, Table, maybe};
use crate::print::{NOTHING, Paint, Tone, size};

pub(super) fn table(facts: &Facts, wide: bool, paint: Paint) -> String {
    let mut heading = vec!["NAME", "ROLE", "STATE", "READY", "SEQUENCE", "LAG", "FREE"];
    if wide {
        heading.extend(["TERM", "HISTORY", "POSITION", "ADDRESS", "GENERATION"]);
    }
    heading.push("WHY");
    let mut table = Table::new(&heading).indented(2);
    for member in &facts.members {
        table.row(row(member, facts, wide));
    }
    if table.is_empty() { "  there are none yet\n".to_owned() } else { table.text(paint) }
}

fn row(member: &Member, facts: &Facts, wide: bool) -> Vec<Cell> {
    let status = member.status.clone().unwrap_or_default();
    let ready = truth(member, ConditionType::Ready);
    let (lag, tone) = lag(member, facts);
    let mut row = vec![
        member.name_any().into(),
        Cell::new(
            status.role.as_deref().unwrap_or(NOTHING),
            if is_primary(&status) { Tone::Heading } else { Tone::Plain },
        ),
        state(member, &status).into(),
        Cell::new(ready, Tone::of_truth(ready)),
        maybe(status.sequence),
        Cell::new(lag, tone),
        maybe(status.free_storage.as_ref().map(size)),
    ];
    if wide {
        let generation = member.metadata.generation.unwrap_or(0);
        let observed = status.observed_generation.unwrap_or(0);
        row.extend([
            maybe(status.term.as_ref()),
            maybe(status.history.as_ref()),
            maybe(status.position.as_ref()),
            maybe(status.address.as_ref()),
            format!("{observed}/{generation}").into(),
        ]);
    }
    row.push(why(member, &status).into());
    row
}

fn truth(member: &Member, kind: ConditionType) -> &'static str {
    let known = member.status.as_ref().map_or(&[][..], |status| &status.conditions);
    conditions::truth_at(known, kind, member.metadata.generation.unwrap_or(0)).as_str()
}

fn is_primary(status: &MemberStatus) -> bool {
    status.role.as_deref() == Some(Role::Primary.as_str())
}

/// What it is, and what it is to become where that differs.
fn state(member: &Member, status: &MemberStatus) -> String {
    let wanted = match member.spec.desired_state {
        DesiredState::Enabled => "Enabled",
        DesiredState::Disabled => "Disabled",
    };
    match status.current_state.as_deref() {
        _ if member.metadata.deletion_timestamp.is_some() => "Deleting".to_owned(),
        Some(state) if state == wanted => state.to_owned(),
        Some(state) => format!("{state}, to be {wanted}"),
        None => format!("to be {wanted}"),
    }
}

/// The first condition that does not hold, and its words; nothing of a member that is ready.
fn why(member: &Member, status: &MemberStatus) -> String {
    if truth(member, ConditionType::Ready) == "True" {
        return NOTHING.to_owned();
    }
    let generation = member.metadata.generation.unwrap_or(0);
    let behind = status.observed_generation.is_none_or(|seen| seen < generation);
    if behind {
        let seen = status.observed_generation.unwrap_or(0);
        return format!("generation {generation} is not applied to it yet, but {seen}");
    }
    // Ready only sums up the others, so it comes last.
    let order = MEMBER_CONDITIONS.iter().skip(1).chain(MEMBER_CONDITIONS.first());
    let unmet = order.filter_map(|kind| conditions::get(&status.conditions, *kind));
    let unmet: Vec<_> = unmet.filter(|condition| condition.status != "True").collect();
    let telling = unmet.iter().find(|condition| condition.status == "False").or(unmet.first());
    telling.map_or_else(
        || NOTHING.to_owned(),
        |condition| format!("{}: {}", condition.reason, condition.message),
    )
}

/// How far it is behind the primary, as far as that can be said.
fn lag(member: &Member, facts: &Facts) -> (String, Tone) {
    let status = member.status.clone().unwrap_or_default();
    if is_primary(&status) {
        return (NOTHING.to_owned(), Tone::Plain);
    }
    let known = facts.cluster.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let healthy = conditions::get(known, ConditionType::Healthy);
    if status.role.is_none() {
        return stopped_lag(&status, facts);
    }
    match healthy {
        Some(healthy) if healthy.status == "True" => ("synced".to_owned(), Tone::Good),
        Some(healthy) if healthy.reason == Reason::NotSynced.as_str() => {
            let name = member.name_any();
            let named =
                healthy.message.split("; ").any(|clause| clause.split(' ').next() == Some(name.as_str()));
            if named { ("behind".to_owned(), Tone::Unsure) } else { ("synced".to_owned(), Tone::Good) }
        }
        _ => ("not known".to_owned(), Tone::Unsure),
    }
}

/// Of one that stands still: what the primary had at least, less what it holds.
fn stopped_lag(status: &MemberStatus, facts: &Facts) -> (String, Tone) {
    let statuses = facts.members.iter().filter_map(|member| member.status.as_ref());
    let primary = statuses.filter(|status| is_primary(status)).max_by_key(|status| status.sequence);
    let ahead =
        primary.filter(|primary| primary.history == status.history).and_then(|primary| primary.sequence);
    match (ahead, status.sequence) {
        (Some(ahead), Some(held)) if ahead > held => (format!("at least {} behind", ahead - held), Tone::Bad),
        _ => ("not known".to_owned(), Tone::Unsure),
    }
}
