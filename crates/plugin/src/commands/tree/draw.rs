//! Drawing the tree: each object under the first of its owners that was found.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::find::Found;
use crate::print::table::{Cell, Table, maybe};
use crate::print::{Paint, Tone};

/// The whole; what nobody owns comes last.
pub(super) fn draw(objects: &[Found], wide: bool, paint: Paint) -> String {
    let mut tree = Tree { objects, wide, drawn: BTreeSet::new(), table: Table::new(heading(wide)) };
    if let Some(root) = objects.first() {
        tree.branch(root, "", "");
    }
    let mut text = tree.table.text(paint);
    let drawn = tree.drawn;
    let rest: Vec<&Found> = objects.iter().filter(|object| !drawn.contains(&object.uid)).collect();
    if !rest.is_empty() {
        let mut table = Table::new(heading(wide)).indented(2);
        for object in rest {
            table.row(row(object, "", wide));
        }
        let title = paint.text(Tone::Heading, "Not owned, kept when the cluster goes");
        let _ = write!(
            text,
            "
{title}
{}",
            table.text(paint)
        );
    }
    text
}

fn heading(wide: bool) -> &'static [&'static str] {
    const HEADING: [&str; 6] = ["OBJECT", "READY", "GENERATION", "OBSERVED", "WHY", "UID"];
    if wide { &HEADING } else { HEADING.get(..5).unwrap_or(&HEADING) }
}

fn row(object: &Found, lines: &str, wide: bool) -> Vec<Cell> {
    let ready = object.readiness.ready;
    let behind = object.readiness.observed_generation.is_some_and(|seen| Some(seen) != object.generation);
    let observed = object.readiness.observed_generation.map(|seen| seen.to_string()).unwrap_or_default();
    let mut row = vec![
        Cell::from(format!("{lines}{}/{}", object.kind, object.name)),
        Cell::new(ready.unwrap_or_default(), ready.map(Tone::of_truth).unwrap_or_default()),
        maybe(object.generation),
        Cell::new(observed, if behind { Tone::Unsure } else { Tone::Plain }),
        Cell::from(object.readiness.why.as_str()),
    ];
    if wide {
        row.push(object.uid.as_str().into());
    }
    row
}

struct Tree<'a> {
    objects: &'a [Found],
    wide: bool,
    /// So that owners that own each other are drawn once.
    drawn: BTreeSet<String>,
    table: Table,
}

impl Tree<'_> {
    fn branch(&mut self, object: &Found, own: &str, below: &str) {
        if !self.drawn.insert(object.uid.clone()) {
            return;
        }
        self.table.row(row(object, own, self.wide));
        let objects = self.objects;
        let children: Vec<&Found> =
            objects.iter().filter(|child| child.owners.contains(&object.uid)).collect();
        for (at, child) in children.iter().enumerate() {
            let (corner, line) = if at + 1 == children.len() { ("└─", "  ") } else { ("├─", "│ ") };
            self.branch(child, &format!("{below}{corner}"), &format!("{below}{line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::readiness::Readiness;
    use super::*;

    fn object(kind: &str, name: &str, owners: &[&str]) -> Found {
        Found {
            api_version: "v1".into(),
            kind: kind.into(),
            name: name.into(),
            uid: name.into(),
            owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
            generation: Some(2),
            readiness: Readiness { ready: Some("True"), observed_generation: Some(2), why: String::new() },
        }
    }

    #[test]
    fn each_stands_under_its_owner_and_the_rest_apart() {
        let objects = [
            object("ReplicatedCluster", "orders", &[]),
            object("Member", "a", &["orders"]),
            object("Member", "b", &["orders"]),
            object("StatefulSet", "set", &["a"]),
            object("PersistentVolumeClaim", "data-a", &[]),
        ];
        let text = draw(&objects, false, Paint::new(false));
        let column: Vec<&str> = text.lines().map(|line| line.split("   ").next().unwrap()).collect();
        assert_eq!(
            column,
            [
                "OBJECT",
                "ReplicatedCluster/orders",
                "├─Member/a",
                "│ └─StatefulSet/set",
                "└─Member/b",
                "",
                "Not owned, kept when the cluster goes",
                "  OBJECT",
                "  PersistentVolumeClaim/data-a",
            ]
        );
    }

    #[test]
    fn owners_in_a_circle_end() {
        let objects = [object("A", "a", &["b"]), object("B", "b", &["a"])];
        assert_eq!(draw(&objects, true, Paint::new(false)).lines().count(), 3);
    }
}
