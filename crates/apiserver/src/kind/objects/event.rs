//! `Event`, in the core group and in `events.k8s.io`, which say the same under other names.

use serde_json::{Value, json};

use super::fields::{check_form, something, text};
use crate::kind::Particular;
use crate::kind::built_in::event_to_core;
use crate::kind::metadata::{label_key, subdomain};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path, go_json};

/// Longest `reportingInstance`, `action` and `reason`.
const MAX_WORD: usize = 128;
/// Longest message.
const MAX_NOTE: usize = 1024;

/// What is particular to `Event`.
#[derive(Debug)]
pub(super) struct Event {
    /// Whether it is that of `events.k8s.io`, which is strict.
    pub(super) is_new: bool,
}

impl Particular for Event {
    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let core = if self.is_new { in_core_words(object) } else { object.clone() };
        let reporting = if self.is_new { "reportingController" } else { "reportingComponent" };
        check_any(&core, reporting, &mut errors);
        if !self.is_new {
            return errors;
        }
        let Some(old) = old.map(in_core_words) else {
            check_new(&core, &mut errors);
            return errors;
        };
        if something(core.get("series")) != something(old.get("series")) {
            check_series(&core, &mut errors);
        }
        check_kept(&core, &old, &mut errors);
        errors
    }
}

/// An event of `events.k8s.io` with the fields of the core group, which errors name.
fn in_core_words(event: &Value) -> Value {
    let mut event = event.clone();
    event_to_core(&mut event);
    event
}

/// What holds for every event.
fn check_any(event: &Value, reporting: &str, errors: &mut Vec<FieldError>) {
    let namespace = text(event, "/metadata/namespace");
    let about = text(event, "/involvedObject/namespace");
    let is_dated = !text(event, "/eventTime").is_empty();
    let fits = match (is_dated, about) {
        (false, "") => matches!(namespace, "" | "default"),
        (false, about) => about == namespace,
        (true, "") => matches!(namespace, "default" | "kube-system"),
        (true, _) => true,
    };
    if !fits {
        let path = Path::new("involvedObject.namespace");
        errors.push(FieldError::invalid(&path, about, "does not match event.namespace"));
    }
    if is_dated {
        let component = text(event, "/reportingComponent");
        if component.is_empty() {
            errors.push(FieldError::required(&Path::new(reporting), ""));
        }
        check_form(&Path::new(reporting), component, label_key(component), errors);
        for field in ["reportingInstance", "action", "reason"] {
            let value = text(event, &format!("/{field}"));
            if value.is_empty() {
                errors.push(FieldError::required(&Path::new(field), ""));
            }
            check_length(field, value, MAX_WORD, errors);
        }
        check_length("message", text(event, "/message"), MAX_NOTE, errors);
    }
    check_form(&Path::new("namespace"), namespace, subdomain(namespace), errors);
}

fn check_length(field: &str, value: &str, max: usize, errors: &mut Vec<FieldError>) {
    if value.len() > max {
        let detail = format!("can have at most {max} characters");
        errors.push(FieldError::invalid(&Path::new(field), "", detail));
    }
}

/// What holds for new events in `events.k8s.io`.
fn check_new(event: &Value, errors: &mut Vec<FieldError>) {
    check_series(event, errors);
    if text(event, "/eventTime").is_empty() {
        errors.push(FieldError::required(&Path::new("eventTime"), ""));
    }
    let kind = text(event, "/type");
    if !matches!(kind, "Normal" | "Warning") {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid(&Path::new("type"), "", detail));
    }
    let is_set = |field: &str| match field {
        "count" => event.get(field).and_then(Value::as_i64).unwrap_or_default() != 0,
        "source" => ["/component", "/host"].iter().any(|part| !text(&event[field], part).is_empty()),
        field => !text(event, &format!("/{field}")).is_empty(),
    };
    for field in ["firstTimestamp", "lastTimestamp", "count", "source"] {
        if is_set(field) {
            errors.push(FieldError::invalid(&Path::new(field), "", "needs to be unset"));
        }
    }
}

fn check_series(event: &Value, errors: &mut Vec<FieldError>) {
    let Some(series) = event.get("series").filter(|series| !series.is_null()) else { return };
    if series.get("count").and_then(Value::as_i64).unwrap_or_default() < 2 {
        errors.push(FieldError::invalid(&Path::new("series.count"), "", "should be at least 2"));
    }
    if text(series, "/lastObservedTime").is_empty() {
        errors.push(FieldError::required(&Path::new("series.lastObservedTime"), ""));
    }
}

/// The fields of a reference, as the server's own type has them.
const REFERENCE: [(&str, &str); 7] = [
    ("Kind", "kind"),
    ("Namespace", "namespace"),
    ("Name", "name"),
    ("UID", "uid"),
    ("APIVersion", "apiVersion"),
    ("ResourceVersion", "resourceVersion"),
    ("FieldPath", "fieldPath"),
];
const SOURCE: [(&str, &str); 2] = [("Component", "component"), ("Host", "host")];

/// What does not change in `events.k8s.io`; only the series does.
fn check_kept(event: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let fields = [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ];
    for (field, named) in fields {
        let value = event.get(field);
        let says = |value: Option<&Value>| something(value).filter(|value| *value != &json!("")).cloned();
        if says(value) == says(old.get(field)) {
            continue;
        }
        let path = Path::new(named);
        let detail = "field is immutable";
        errors.push(match (field, value) {
            ("involvedObject", _) | ("related", Some(_)) => shown(&path, value, &REFERENCE, detail),
            ("source", _) => shown(&path, value, &SOURCE, detail),
            ("count", _) => FieldError::invalid(&path, value.cloned().unwrap_or_else(|| 0.into()), detail),
            ("firstTimestamp" | "lastTimestamp" | "eventTime" | "related", _) => {
                FieldError::invalid(&path, value.cloned().unwrap_or(Value::Null), detail)
            }
            _ => FieldError::invalid(&path, value.cloned().unwrap_or_else(|| "".into()), detail),
        });
    }
}

fn shown(path: &Path, value: Option<&Value>, fields: &[(&str, &str)], detail: &str) -> FieldError {
    let value = value.cloned().unwrap_or_default();
    let parts = fields
        .iter()
        .map(|(name, field)| format!("\"{name}\":{}", go_json(&text(&value, &format!("/{field}")).into())));
    let shown = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
    FieldError::invalid_shown(path, value, shown, detail)
}
