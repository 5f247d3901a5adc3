//! `Healthy`: every member in its role, synced, none failed or errant.

use muster_api::names::Reason;

use super::control_plane::{is_parked, lacking, why};
use super::inputs::ClusterInputs;
use super::view::{Part, Picture};
use crate::conditions::{self, Finding};
use crate::manager::decide::Rule;

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
    if picture.primaries().len() != picture.wanted_primaries() || !picture.one_view() {
        return Finding::is_false(why(picture, &unwell), or_views(lacking(picture, &unwell)));
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

fn or_views(text: String) -> String {
    if text.is_empty() {
        "members see different views, or too many serve as primary".to_owned()
    } else {
        text
    }
}
