//! What a request can lose, in words, from what the person sees: said before it is asked for.

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::cluster::{Recovery, RecoveryReport};
use muster_core::manager::requests::Ask;

/// The lines to show before the question; none where nothing can be lost.
pub(super) fn losses(looked_at: &ReplicatedCluster, ask: &Ask) -> Option<Vec<String>> {
    let cluster = looked_at.name_any();
    let recovery = looked_at.status.as_ref().and_then(|status| status.recovery.as_ref());
    match ask {
        Ask::Switchover { .. } => None,
        Ask::Recover { seed: Some(seed), accept_data_loss, .. } => {
            let mut lines = vec![format!("{cluster} goes on with the data of {seed}.")];
            lines.extend(with_seed(recovery, seed, *accept_data_loss));
            Some(lines)
        }
        Ask::Recover { replicas, .. } => Some(with_count(&cluster, recovery, replicas.unwrap_or(0))),
        Ask::Fence { members } => Some(vec![
            format!(
                "You vouch that {} of {cluster} run nowhere, and will not come back by themselves.",
                names(members)
            ),
            "If one of them does run, two primaries may take writes, and the writes of one of them are lost."
                .to_owned(),
        ]),
        Ask::Forget { members } => Some(vec![
            format!(
                "{} of {cluster} are given up for good, and with them the data on their volumes.",
                names(members)
            ),
            "Writes that only they hold are lost. If one comes back, it is errant and stays stopped."
                .to_owned(),
        ]),
        Ask::Rejoin { member, .. } => Some(vec![
            format!("All that {member} of {cluster} holds is discarded, and copied anew from the primary."),
            format!("Writes that only {member} holds are lost: copy its volume first if you may need them."),
        ]),
    }
}

fn with_seed(recovery: Option<&Recovery>, seed: &str, accept: bool) -> Vec<String> {
    let Some(recovery) = recovery else {
        return vec![
            "Status tells of no recovery, so it is not known what the others hold that it lacks.".to_owned(),
        ];
    };
    let mut lines = Vec::new();
    let chosen = recovery.reported.iter().find(|report| report.member == seed);
    match chosen {
        None => lines.push(format!("{seed} does not report: it is not known what it holds.")),
        Some(report) if report.empty == Some(true) && accept => lines.push(format!(
            "{seed} is empty: a new, empty cluster is formed, and ALL earlier data is given up."
        )),
        Some(report) if report.empty == Some(true) => {
            lines.push(format!("{seed} is empty: this is refused without --accept-data-loss."));
        }
        Some(report) if report.empty.is_none() => {
            lines.push(format!("What {seed} holds cannot be read: it may be less than it seems."));
        }
        Some(report) => lines.push(format!("{seed} ends at {}.", place(report))),
    }
    let others = recovery.reported.iter().filter(|report| report.member != seed);
    lines.extend(others.filter_map(|other| lost_of(other, chosen)));
    if !recovery.missing.is_empty() {
        let missing = names(&recovery.missing);
        lines.push(format!(
            "Not heard: {missing}. What only they hold is lost; they are errant when they return."
        ));
    }
    if accept {
        lines.push("--accept-data-loss: even if its data is incomplete or of another history.".to_owned());
    }
    lines
}

/// What is lost of one that is not chosen, if anything can be said to be.
fn lost_of(other: &RecoveryReport, chosen: Option<&RecoveryReport>) -> Option<String> {
    let name = &other.member;
    match other.empty {
        Some(true) => return None,
        None => return Some(format!("What {name} holds cannot be read: what only it holds is lost.")),
        Some(false) => {}
    }
    let nothing = RecoveryReport::default();
    let chosen = chosen.unwrap_or(&nothing);
    if other.history != chosen.history {
        return Some(format!("{name} holds another history ({}): all of it is given up.", place(other)));
    }
    let ahead = other.sequence.unwrap_or(0) - chosen.sequence.unwrap_or(0);
    if other.term == chosen.term && ahead <= 0 {
        return None;
    }
    let how = if other.term == chosen.term { format!("{ahead} more") } else { "of another term".to_owned() };
    Some(format!("{name} ends at {}, {how}: what {name} has beyond the seed is lost.", place(other)))
}

fn place(report: &RecoveryReport) -> String {
    let sequence =
        report.sequence.map_or_else(|| "an unknown sequence".to_owned(), |at| format!("sequence {at}"));
    match &report.term {
        Some(term) => format!("{sequence} of term {term}"),
        None => sequence,
    }
}

fn with_count(cluster: &str, recovery: Option<&Recovery>, replicas: usize) -> Vec<String> {
    let mut lines = vec![format!(
        "{cluster} recovers as soon as {replicas} members are there, whatever the others hold."
    )];
    match recovery {
        Some(recovery) if !recovery.missing.is_empty() => {
            let missing = names(&recovery.missing);
            lines.push(format!(
                "Not heard: {missing}. What only they hold is lost; they are errant when they return."
            ));
        }
        _ => lines.push(
            "What only members beyond that count hold is lost; they are errant when they return.".to_owned(),
        ),
    }
    lines
}

fn names(members: &[String]) -> String {
    muster_core::conditions::names(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn cluster(recovery: &Value) -> ReplicatedCluster {
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": "orders"},
            "spec": {"engine": {"name": "ledger"}, "pools": []}, "status": {"recovery": recovery},
        });
        serde_json::from_value(object).unwrap()
    }

    fn seed(name: &str, accept_data_loss: bool) -> Ask {
        Ask::Recover { seed: Some(name.into()), accept_data_loss, replicas: None }
    }

    fn said(recovery: &Value, ask: &Ask) -> String {
        losses(&cluster(recovery), ask).unwrap().join("\n")
    }

    #[test]
    fn what_the_others_hold_beyond_the_seed_is_named() {
        let recovery = json!({"missing": ["orders-a-3"], "reported": [
            {"member": "orders-a-0", "term": "5.1", "sequence": 40, "history": "h", "empty": false},
            {"member": "orders-a-1", "term": "5.1", "sequence": 48, "history": "h", "empty": false},
            {"member": "orders-a-2", "term": "5.1", "sequence": 40, "history": "h", "empty": false},
            {"member": "orders-b-0", "term": "2.1", "sequence": 3, "history": "x", "empty": false},
            {"member": "orders-b-1", "empty": true},
            {"member": "orders-b-2"},
        ]});
        let text = said(&recovery, &seed("orders-a-0", false));
        assert!(text.contains("orders-a-0 ends at sequence 40 of term 5.1."), "{text}");
        assert!(text.contains("orders-a-1 ends at sequence 48 of term 5.1, 8 more:"), "{text}");
        assert!(text.contains("orders-b-0 holds another history"), "{text}");
        assert!(text.contains("What orders-b-2 holds cannot be read"), "{text}");
        assert!(text.contains("Not heard: orders-a-3."), "{text}");
        assert!(!text.contains("orders-a-2") && !text.contains("orders-b-1"), "{text}");
    }

    #[test]
    fn forming_anew_is_called_by_its_name() {
        let recovery = json!({"reported": [{"member": "orders-a-0", "empty": true}]});
        assert!(said(&recovery, &seed("orders-a-0", true)).contains("ALL earlier data is given up"));
        assert!(said(&recovery, &seed("orders-a-0", false)).contains("refused without --accept-data-loss"));
    }

    #[test]
    fn only_a_switchover_loses_nothing() {
        let none = json!(null);
        assert_eq!(losses(&cluster(&none), &Ask::Switchover { to: None }), None);
        let members = vec!["orders-a-1".to_owned()];
        for ask in [
            seed("orders-a-0", false),
            Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(2) },
            Ask::Fence { members: members.clone() },
            Ask::Forget { members },
            Ask::Rejoin { member: "orders-a-1".into(), discard: true },
        ] {
            assert!(said(&none, &ask).contains("lost") || said(&none, &ask).contains("not known"), "{ask:?}");
        }
    }
}
