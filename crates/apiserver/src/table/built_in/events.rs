//! Events, of either group: the newer one has other names for the same fields.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, ObjectReference};
use serde_json::Value;

use super::Printer;
use super::cells::{name, number, text};
use crate::table::Row;
use crate::table::age::since;
use crate::table::column::{Column, NAME, Says, schema};

pub(super) static EVENTS: Printer = Printer::new(
    &[
        Column::text("Last Seen", Says::Field(schema::<Event>, "lastTimestamp")),
        Column::text("Type", Says::Field(schema::<Event>, "type")),
        Column::text("Reason", Says::Field(schema::<Event>, "reason")),
        Column::text("Object", Says::Field(schema::<Event>, "involvedObject")),
        Column::wide("Subobject", Says::Field(schema::<ObjectReference>, "fieldPath")),
        Column::wide("Source", Says::Field(schema::<Event>, "source")),
        Column::text("Message", Says::Field(schema::<Event>, "message")),
        Column::wide("First Seen", Says::Field(schema::<Event>, "firstTimestamp")),
        Column::wide("Count", Says::Field(schema::<Event>, "count")),
        NAME.only_wide(),
    ],
    row,
);

/// A text under its name in the core group, or under the other.
fn either<'a>(event: &'a Value, core: &str, newer: &str) -> &'a str {
    match text(event, core) {
        "" => text(event, newer),
        found => found,
    }
}

fn row(event: &Value, now: Timestamp) -> Row {
    let first = match either(event, "/firstTimestamp", "/deprecatedFirstTimestamp") {
        "" => text(event, "/eventTime"),
        time => time,
    };
    let series = event.get("series").filter(|series| !series.is_null());
    let last = match (series, either(event, "/lastTimestamp", "/deprecatedLastTimestamp")) {
        (Some(series), _) => text(series, "/lastObservedTime"),
        (None, "") => first,
        (None, time) => time,
    };
    let count = match series {
        Some(series) => number(series, "/count"),
        // One that is alone need not be counted.
        None => (number(event, "/count") + number(event, "/deprecatedCount")).max(1),
    };
    vec![
        since(last, now).into(),
        text(event, "/type").into(),
        text(event, "/reason").into(),
        about(event).into(),
        either(event, "/involvedObject/fieldPath", "/regarding/fieldPath").into(),
        source(event).into(),
        either(event, "/message", "/note").trim().into(),
        since(first, now).into(),
        count.into(),
        name(event),
    ]
    .into()
}

fn about(event: &Value) -> String {
    let kind = either(event, "/involvedObject/kind", "/regarding/kind").to_lowercase();
    match either(event, "/involvedObject/name", "/regarding/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(event: &Value) -> String {
    let component = match either(event, "/source/component", "/deprecatedSource/component") {
        "" => either(event, "/reportingComponent", "/reportingController"),
        component => component,
    };
    let place = match either(event, "/source/host", "/deprecatedSource/host") {
        "" => text(event, "/reportingInstance"),
        host => host,
    };
    if place.is_empty() { component.to_owned() } else { format!("{component}, {place}") }
}
