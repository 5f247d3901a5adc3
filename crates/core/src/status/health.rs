//! `Healthy`: every member in its role, synced, none failed or errant.

use muster_api::names::Reason;

use super::control_plane::{is_parked, lacking, why};
use super::inputs::ClusterInputs;
use super::view::{Part, Picture};
use crate::conditions::{self, Finding};
use crate::manager::decide::Rule;
use crate::manager::roster::{Entry, voters};

pub(super) fn healthy(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> Finding {
    let unwell = unwell(picture);
    match picture.view.decision.rule {
        Rule::Park if is_parked(inputs, picture) => return parked(picture),
        Rule::Park => return Finding::is_false(Reason::Stopping, "all pools are at 0: members are stopping"),
        Rule::SplitBrain => {
            let text = "more primaries or views than wanted";
            return Finding::is_false(Reason::SplitBrain, text);
        }
        Rule::Form => return Finding::is_false(Reason::Forming, "the cluster is being formed"),
        _ => {}
    }
    // One too many is on its way out: else it would be a split.
    if picture.primaries().len() < picture.wanted_primaries() || !picture.one_view() {
        return Finding::is_false(why(picture, &unwell), or_views(lacking(picture, &unwell)));
    }
    let uncounted = uncounted(picture);
    if unwell.is_empty() && !uncounted.is_empty() {
        let (names, cluster) = (conditions::names(&uncounted), &picture.view.wanted.cluster);
        let forget = format!("kubectl muster forget {cluster} {}", uncounted.join(" "));
        let text = format!(
            "{names}: the volume whose copies count is gone, and no write has enough of them without it; \
                            to give it up: {forget}"
        );
        return Finding::is_false(Reason::VolumeLost, text);
    }
    if unwell.is_empty() {
        return Finding::is_true(Reason::AsDesired, "every member is in its role and synced");
    }
    let silent = |name: &str| matches!(picture.part(name), Part::Silent | Part::Fenced);
    let behind = |name: &&str| matches!(picture.part(name), Part::Joined { .. });
    let reason = match why(picture, &unwell) {
        Reason::NotJoined if unwell.iter().all(behind) => Reason::NotSynced,
        Reason::NotJoined if unwell.iter().any(|name| silent(name)) => Reason::AgentsUnreachable,
        other => other,
    };
    Finding::is_false(reason, conditions::listed(&picture.clauses(&unwell), "; "))
}

/// A parked member is in its role when it is stopped; one that failed has failed all the same. Who is errant cannot be
/// told without a primary.
fn parked(picture: &Picture<'_>) -> Finding {
    let failed = picture.whose(|part| matches!(part, Part::Failed { .. }));
    if failed.is_empty() {
        return Finding::is_true(Reason::Parked, "all pools are at 0: every application is stopped");
    }
    Finding::is_false(Reason::MemberFailed, conditions::listed(&picture.clauses(&failed), "; "))
}

/// The members that are not as they should be. The absence of a disabled one does not count.
fn unwell<'a>(picture: &Picture<'a>) -> Vec<&'a str> {
    let mut names = picture.staying();
    names.retain(|name| match picture.part(name) {
        Part::Joined { synced, .. } => !synced,
        Part::Failed { .. } | Part::Errant => true,
        _ => !picture.view.wanted.disabled(name),
    });
    names
}

/// The members that have another volume than the one whose copies count, where so few of those are left that another roster
/// cannot be told to enough of them: where all have to have a copy, one is enough.
fn uncounted<'a>(picture: &Picture<'a>) -> Vec<&'a str> {
    let (observed, copies) = (picture.view.observed, picture.view.wanted.engine.copies);
    let Some(roster) = observed.roster().filter(|_| !picture.view.wanted.engine.elects) else {
        return Vec::new();
    };
    let counted: Vec<&Entry> = voters(roster.before.as_deref().unwrap_or(&roster.entries)).collect();
    let gone = |voter: &&&Entry| {
        let exchanged = observed.report_of(&voter.member).is_some_and(|report| report.volume != voter.volume);
        exchanged && observed.reporting().all(|(_, report)| report.volume != voter.volume)
    };
    let lost: Vec<&&Entry> = counted.iter().filter(gone).collect();
    if counted.len() - lost.len() >= copies.told(counted.len()) {
        return Vec::new();
    }
    let mut names = picture.staying();
    names.retain(|name| lost.iter().any(|voter| voter.member == *name));
    names
}

fn or_views(text: String) -> String {
    if text.is_empty() {
        "members see different views, or too many serve as primary".to_owned()
    } else {
        text
    }
}
