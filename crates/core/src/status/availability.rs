//! `Available`: clients can be served now.

use muster_api::names::{LABEL_ROLE, Reason, Role};

use super::control_plane::{is_parked, serving};
use super::inputs::ClusterInputs;
use super::recovery;
use super::view::{Part, Picture};
use crate::conditions::{self, Finding};
use crate::manager::decide::Rule;

pub(super) fn available(inputs: &ClusterInputs<'_>, picture: &Picture<'_>) -> Finding {
    if is_parked(inputs, picture) {
        return Finding::is_false(Reason::Parked, "all pools are at 0, as asked: nobody is served");
    }
    if picture.is_torn() {
        let text = "primaries on different sides: what one accepts, the other does not know";
        return Finding::is_false(Reason::SplitBrain, text);
    }
    let primaries = picture.primaries();
    if primaries.is_empty() {
        return nobody_serves(picture);
    }
    if inputs.service.is_none() {
        return Finding::is_false(Reason::NotServing, "the Service that clients use was not found");
    }
    if !primaries.iter().any(|name| inputs.clustering.reached.contains(*name)) {
        let text = format!(
            "the Service sends clients to nobody: no Pod of a primary carries the label {LABEL_ROLE}: {} ({})",
            Role::Primary,
            conditions::names(&primaries)
        );
        return Finding::is_false(Reason::NotServing, text);
    }
    Finding::is_true(Reason::Serving, serving(picture))
}

fn nobody_serves(picture: &Picture<'_>) -> Finding {
    let stale = picture.whose(|part| matches!(part, Part::StaleTerm { role: Role::Primary }));
    if !stale.is_empty() {
        let text = format!("{} serve in a term that is not the newest", conditions::names(&stale));
        return Finding::is_false(Reason::StaleTerm, text);
    }
    match picture.view.decision.rule {
        Rule::Form => return Finding::is_false(Reason::Forming, "the cluster is being formed"),
        Rule::Park => return Finding::is_false(Reason::Parked, "all pools are at 0: members are stopping"),
        _ => {}
    }
    let mut text = "no member is heard that serves as primary".to_owned();
    let silent = picture.whose(|part| *part == Part::Silent);
    if !silent.is_empty() {
        let names = conditions::names(&silent);
        text = format!("{text}; not heard, and perhaps serving: {names}");
    }
    if let Some(unblock) = recovery::unblock(picture) {
        text = format!("{text}; to unblock: {unblock}");
    }
    Finding::is_false(Reason::NoPrimary, text)
}
