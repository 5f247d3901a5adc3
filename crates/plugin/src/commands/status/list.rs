//! One line for each cluster.

use jiff::Timestamp;
use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::ConditionType;

use super::page::{phase, status_of};
use crate::print::table::{Cell, Table, maybe};
use crate::print::{Paint, Tone, age};

/// The table, with the namespace in front where there are several.
pub(super) fn list(clusters: &[ReplicatedCluster], namespaces: bool, now: Timestamp, paint: Paint) -> String {
    let heading = [
        "NAMESPACE",
        "NAME",
        "PHASE",
        "READY",
        "AVAILABLE",
        "HEALTHY",
        "PRIMARY",
        "MEMBERS",
        "REASON",
        "AGE",
    ];
    let first = usize::from(!namespaces);
    let mut table = Table::new(heading.get(first..).unwrap_or(&heading));
    for cluster in clusters {
        let status = cluster.status.clone().unwrap_or_default();
        let truth = |kind| {
            let word = status_of(cluster, kind);
            Cell::new(word, Tone::of_truth(word))
        };
        let (word, tone) = phase(cluster);
        let age = cluster.creation_timestamp().map(|made| age::short(age::since(made.0, now)));
        let mut row = vec![Cell::from(cluster.namespace().unwrap_or_default())];
        row.extend([
            Cell::from(cluster.name_any()),
            Cell::new(word, tone),
            truth(ConditionType::Ready),
            truth(ConditionType::Available),
            truth(ConditionType::Healthy),
            maybe(status.primary),
            maybe(status.members_ready),
            maybe(status.reason),
            maybe(age),
        ]);
        table.row(row.split_off(first));
    }
    table.text(paint)
}
