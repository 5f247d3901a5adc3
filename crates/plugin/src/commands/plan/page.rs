//! The plan, for a person.

use std::fmt::Write;

use super::outline::{Outline, Verb};
use crate::print::paint::tame;
use crate::print::table::{Cell, Table};
use crate::print::{Paint, Tone};

pub(super) fn text(outline: &Outline, paint: Paint) -> String {
    let mut text = String::new();
    let Outline { cluster, namespace, generation, .. } = outline;
    let what = match (outline.exists, outline.changed) {
        (false, _) => "as it is to be created".to_owned(),
        (true, true) => format!("changed to generation {generation}"),
        (true, false) => format!("as it is, at generation {generation}"),
    };
    let _ = writeln!(text, "{cluster} in namespace {namespace}, {what}");
    for violation in &outline.violations {
        let _ = writeln!(text, "  {} {}", paint.text(Tone::Bad, "not valid:"), tame(violation));
    }
    for note in &outline.notes {
        let _ = writeln!(text, "  {} {}", paint.text(Tone::Unsure, "note:"), tame(note));
    }
    if !outline.violations.is_empty() {
        return text;
    }
    let mut part = |title: &str, table: &Table| {
        if !table.is_empty() {
            let _ = write!(text, "\n{}\n{}", paint.text(Tone::Heading, title), table.text(paint));
        }
    };
    part("Pools", &pools(outline));
    part("Members", &members(outline));
    part("Objects", &objects(outline));
    if outline.is_idle() {
        text += "\nNothing to do: everything is as this spec asks.\n";
    }
    text
}

fn pools(outline: &Outline) -> Table {
    let mut table = Table::new(&["NAME", "MEMBERS", "WANTED", "NEXT"]).indented(2);
    for pool in &outline.pools {
        let tone = if pool.acts { Tone::Unsure } else { Tone::Plain };
        table.row(vec![
            pool.name.as_str().into(),
            pool.nodes.to_string().into(),
            pool.desired_nodes.to_string().into(),
            Cell::new(pool.next.as_str(), tone),
        ]);
    }
    table
}

fn members(outline: &Outline) -> Table {
    let mut table = Table::new(&["NAME", "WHEN", "WHAT"]).indented(2);
    for member in &outline.members {
        table.row(vec![
            member.name.as_str().into(),
            member.when.as_str().into(),
            member.what.as_str().into(),
        ]);
    }
    table
}

fn objects(outline: &Outline) -> Table {
    let mut table = Table::new(&["DO", "OBJECT", "WHY"]).indented(2);
    for object in &outline.objects {
        let (word, tone) = match object.verb {
            Verb::Create => ("create", Tone::Good),
            Verb::Change => ("change", Tone::Unsure),
            Verb::Delete => ("delete", Tone::Bad),
            Verb::Blocked => ("blocked", Tone::Bad),
        };
        table.row(vec![Cell::new(word, tone), object.object.as_str().into(), object.why.as_str().into()]);
    }
    table
}
