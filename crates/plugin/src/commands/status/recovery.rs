//! Recovery: what it waits for, who is missing, and what each member holds.

use std::fmt::Write;

use muster_api::ReplicatedCluster;
use muster_api::cluster::RecoveryReport;

use crate::print::paint::tame;
use crate::print::table::{Cell, Table, maybe};
use crate::print::{Paint, Tone};

pub(super) fn text(cluster: &ReplicatedCluster, paint: Paint) -> String {
    let Some(recovery) = cluster.status.as_ref().and_then(|status| status.recovery.as_ref()) else {
        return String::new();
    };
    let mut text = String::new();
    let blocked = recovery.blocked_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let _ = writeln!(text, "  {}{}", paint.text(Tone::Bad, &tame(&recovery.state)), tame(&blocked));
    if !recovery.missing.is_empty() {
        let _ = writeln!(text, "  missing: {}", tame(&recovery.missing.join(", ")));
    }
    if let Some(seed) = &recovery.seed {
        let _ = writeln!(text, "  to go on with: {}", tame(seed));
    }
    let mut table = Table::new(&["MEMBER", "HOLDS", "TERM", "SEQUENCE", "POSITION", "HISTORY"]).indented(2);
    for report in &recovery.reported {
        table.row(vec![
            report.member.as_str().into(),
            holds(report).into(),
            maybe(report.term.as_ref()),
            maybe(report.sequence),
            maybe(report.position.as_ref()),
            maybe(report.history.as_ref()),
        ]);
    }
    let silent = recovery
        .expected
        .iter()
        .filter(|name| !recovery.reported.iter().any(|report| report.member == **name));
    for name in silent {
        let holds =
            if recovery.missing.contains(name) { "not heard" } else { "not heard, known to be stopped" };
        table.row(vec![name.as_str().into(), Cell::new(holds, Tone::Bad)]);
    }
    if !table.is_empty() {
        text += &table.text(paint);
    }
    text
}

/// Of data that cannot be read nothing is known, not even that there is none.
fn holds(report: &RecoveryReport) -> &'static str {
    match report.empty {
        Some(true) => "nothing",
        Some(false) => "data",
        None => "not readable",
    }
}
