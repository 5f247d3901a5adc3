//! The page about one cluster, from the first question ("is anybody looking?") to the last ("what can I do?").

use std::fmt::Write;

use jiff::Timestamp;
use kube::ResourceExt;
use muster_api::names::{ANNOTATION_REQUEST, CLUSTER_CONDITIONS, ConditionType, Phase};
use muster_api::{Condition, ReplicatedCluster};
use muster_core::manager::requests;

use super::{Facts, members, next, recovery};
use crate::print::paint::tame;
use crate::print::table::{Cell, Table, maybe};
use crate::print::{NOTHING, Paint, Tone, age, size};

/// The whole page.
pub(super) fn page(facts: &Facts, wide: bool, paint: Paint) -> String {
    let mut text = head(facts).text(paint);
    let mut part = |title: &str, body: String| {
        if !body.is_empty() {
            let _ = write!(text, "\n{}\n{body}", paint.text(Tone::Heading, title));
        }
    };
    part("Conditions", conditions(&facts.cluster, facts.operator.now).text(paint));
    part("Pools", pools(&facts.cluster, paint));
    part("Members", members::table(facts, wide, paint));
    part("Recovery", recovery::text(&facts.cluster, paint));
    part("Requests", requests(&facts.cluster, facts.operator.now));
    part("What you can do", next::text(facts));
    text
}

fn head(facts: &Facts) -> Table {
    let Facts { cluster, operator, .. } = facts;
    let status = cluster.status.clone().unwrap_or_default();
    let mut table = Table::bare();
    let mut row =
        |name: &str, cell: Cell| table.row(vec![Cell::new(format!("{name}:"), Tone::Heading), cell]);
    let place = format!("{} in namespace {}", cluster.name_any(), cluster.namespace().unwrap_or_default());
    row("Cluster", place.into());
    let tone = if operator.runs() { Tone::Plain } else { Tone::Bad };
    row("Operator", Cell::new(operator.sentence(), tone));
    let (word, tone) = phase(cluster);
    let reason = status.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    row("Phase", Cell::new(format!("{word}{reason}"), tone));
    let (words, tone) = why(cluster);
    row("Why", Cell::new(words, tone));
    let (words, tone) = spec(cluster);
    row("Spec", Cell::new(words, tone));
    row("Engine", engine(cluster).into());
    if let Some(endpoint) = &status.endpoint {
        row("Endpoint", format!("{}:{}", endpoint.host, endpoint.port).into());
    }
    row("Members", counts(cluster).into());
    if let Some(free) = &status.free_storage {
        row("Free storage", size(free).into());
    }
    if let Some(time) = &status.last_backup_time {
        row("Last backup", format!("{} ago", age::short(age::since(time.0, operator.now))).into());
    }
    if let Some(message) = &status.failure_message {
        row("Failure", Cell::new(message.as_str(), Tone::Bad));
    }
    table
}

/// The phase, in its colour.
pub(super) fn phase(cluster: &ReplicatedCluster) -> (String, Tone) {
    let word = cluster.status.as_ref().and_then(|status| status.phase.clone());
    let word = word.unwrap_or_else(|| "Unknown".to_owned());
    let tone = match word.parse() {
        Ok(Phase::Running | Phase::Provisioned) => Tone::Good,
        Ok(Phase::Failed | Phase::Degraded) => Tone::Bad,
        _ => Tone::Unsure,
    };
    (word, tone)
}

/// The status of a condition at the cluster's generation; old news is no news.
pub(super) fn status_of(cluster: &ReplicatedCluster, kind: ConditionType) -> &'static str {
    let conditions = cluster.status.as_ref().map_or(&[][..], |status| &status.conditions);
    muster_core::conditions::truth_at(conditions, kind, cluster.metadata.generation.unwrap_or(0)).as_str()
}

fn condition(cluster: &ReplicatedCluster, kind: ConditionType) -> Option<&Condition> {
    muster_core::conditions::get(&cluster.status.as_ref()?.conditions, kind)
}

/// Why the cluster is not what it should be, in the words of the condition that says most.
fn why(cluster: &ReplicatedCluster) -> (String, Tone) {
    let telling = [ConditionType::Ready, ConditionType::Healthy];
    for kind in telling {
        match condition(cluster, kind) {
            Some(condition) if condition.status == "True" => {}
            Some(condition) => {
                let words =
                    format!("{kind} is {} ({}): {}", condition.status, condition.reason, condition.message);
                return (words, Tone::of_truth(&condition.status));
            }
            None => {
                return (
                    format!("{kind} is not known: the operator has not written a status yet"),
                    Tone::Unsure,
                );
            }
        }
    }
    ("everything is as the spec asks".to_owned(), Tone::Good)
}

/// Whether the newest spec is the one that status is about.
fn spec(cluster: &ReplicatedCluster) -> (String, Tone) {
    let generation = cluster.metadata.generation.unwrap_or(0);
    let observed = cluster.status.as_ref().and_then(|status| status.observed_generation).unwrap_or(0);
    let ready = status_of(cluster, ConditionType::Ready) == "True";
    if cluster.metadata.deletion_timestamp.is_some() {
        return (format!("generation {generation}, being deleted"), Tone::Unsure);
    }
    match observed.cmp(&generation) {
        std::cmp::Ordering::Less => {
            let words =
                format!("generation {generation} is not applied: all below is about generation {observed}");
            (words, Tone::Unsure)
        }
        std::cmp::Ordering::Greater => {
            let words =
                format!("generation {generation}, but status claims {observed}: someone else wrote it");
            (words, Tone::Bad)
        }
        std::cmp::Ordering::Equal if ready => (format!("generation {generation} is live"), Tone::Good),
        std::cmp::Ordering::Equal => {
            (format!("generation {generation} is seen, and not live yet"), Tone::Unsure)
        }
    }
}

fn engine(cluster: &ReplicatedCluster) -> String {
    let name = &cluster.spec.engine.name;
    let status = cluster.status.as_ref();
    let current = status.and_then(|status| status.current_version.as_deref());
    let target =
        status.and_then(|status| status.target_version.as_deref()).or(cluster.spec.engine.version.as_deref());
    match (current, target) {
        (Some(current), Some(target)) if current != target => format!("{name} {current}, to become {target}"),
        (Some(version), _) => format!("{name} {version}"),
        (None, Some(target)) => format!("{name}, to become {target}"),
        (None, None) => name.clone(),
    }
}

/// What is not known is left out.
fn counts(cluster: &ReplicatedCluster) -> String {
    let status = cluster.status.clone().unwrap_or_default();
    let ready = status.members_ready.map(|ready| format!("{ready} ready"));
    let counted = [
        (status.updated_replicas, "up to date"),
        (status.available_replicas, "serving"),
        (status.synced_replicas, "synced"),
        (status.errant_replicas.filter(|count| *count > 0), "errant"),
    ];
    let counted = counted.iter().filter_map(|(count, what)| Some(format!("{} {what}", (*count)?)));
    let parts: Vec<String> = ready.into_iter().chain(counted).collect();
    if parts.is_empty() { NOTHING.to_owned() } else { parts.join(", ") }
}

fn conditions(cluster: &ReplicatedCluster, now: Timestamp) -> Table {
    let generation = cluster.metadata.generation.unwrap_or(0);
    let mut table = Table::new(&["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]).indented(2);
    for kind in CLUSTER_CONDITIONS {
        let Some(condition) = condition(cluster, *kind) else { continue };
        let old = condition.observed_generation.filter(|at| *at != generation);
        let message = match old {
            Some(at) => format!("(about generation {at}) {}", condition.message),
            None => condition.message.clone(),
        };
        table.row(vec![
            kind.as_str().into(),
            Cell::new(condition.status.as_str(), tone(*kind, &condition.status)),
            age::short(age::since(condition.last_transition_time.0, now)).into(),
            condition.reason.as_str().into(),
            message.into(),
        ]);
    }
    table
}

/// Of what is happening, it is no fault that it does not.
fn tone(kind: ConditionType, status: &str) -> Tone {
    let activity = [
        ConditionType::Recovering,
        ConditionType::ScalingUp,
        ConditionType::ScalingDown,
        ConditionType::RollingOut,
    ];
    match status {
        "False" if activity.contains(&kind) => Tone::Plain,
        "True" if activity.contains(&kind) => Tone::Unsure,
        _ => Tone::of_truth(status),
    }
}

fn pools(cluster: &ReplicatedCluster, paint: Paint) -> String {
    let status = cluster.status.clone().unwrap_or_default();
    let heading = ["NAME", "ZONE", "NODES", "READY", "DESIRED", "CAPACITY", "FREE"];
    let mut table = Table::new(&heading).indented(2);
    for pool in status.pools {
        table.row(vec![
            pool.name.into(),
            maybe(pool.zone),
            maybe(pool.nodes),
            maybe(pool.ready_nodes),
            maybe(pool.desired_nodes),
            maybe(pool.capacity.as_ref().map(size)),
            maybe(pool.free_storage.as_ref().map(size)),
        ]);
    }
    if table.is_empty() { String::new() } else { table.text(paint) }
}

/// The request that waits, and the last one with its outcome.
fn requests(cluster: &ReplicatedCluster, now: Timestamp) -> String {
    let mut text = String::new();
    if let Some(annotation) = cluster.annotations().get(ANNOTATION_REQUEST) {
        let _ = match requests::parse(annotation) {
            Ok(request) => writeln!(text, "  pending: {} until {}", request.id, request.expires),
            Err(refusal) => writeln!(text, "  pending: {}", tame(&refusal.to_string())),
        };
    }
    if let Some(last) = cluster.status.as_ref().and_then(|status| status.last_request.as_ref()) {
        let ago = last.time.as_ref().map(|time| format!(" {} ago", age::short(age::since(time.0, now))));
        let message = if last.message.is_empty() { String::new() } else { format!(": {}", last.message) };
        let line = format!(
            "  last: {} {} {}{}{message}",
            last.action,
            last.id,
            last.result,
            ago.unwrap_or_default()
        );
        let _ = writeln!(text, "{}", tame(&line));
    }
    text
}
