//! The status of a CRD, as the controllers inside the server keep it: which names it got, whether it is served, and how
//! far its deletion is.

use serde_json::{Map, Value, json};

use super::super::fields::{list, object_at, something, text, texts};
use super::{approval, conversion};
use crate::lifecycle::metadata;

/// Keeps a CRD until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

const NAMES: [&str; 6] = ["plural", "singular", "shortNames", "kind", "listKind", "categories"];

/// The CRD with the names it gets and the conditions that follow from them; none if that is what it says already.
/// `others` are all other CRDs.
pub fn established(crd: &Value, others: &[Value], now: &str) -> Option<Value> {
    let mut next = crd.clone();
    accept_names(&mut next, others, now);
    if is_true_condition(&next, "NamesAccepted") && !is_true_condition(&next, "Established") {
        let condition = if conversion::has_valid_bundle(crd) {
            let message = "the initial names have been accepted";
            json!({"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": message})
        } else {
            let message = "The conversion webhook CABundle is invalid";
            json!({"type": "Established", "status": "False", "reason": "InvalidCABundle", "message": message})
        };
        set_condition(&mut next, condition, now);
    }
    if let Some(condition) = approval::condition(crd) {
        set_condition(&mut next, condition, now);
    }
    (next != *crd).then_some(next)
}

/// The CRD as its deletion leaves it at first: marked, and kept until its objects are gone.
#[must_use]
pub fn marked(crd: &Value, now: &str) -> Value {
    let mut next = crd.clone();
    if metadata::is_ending(crd) {
        return next;
    }
    metadata::set(&mut next, "deletionTimestamp", Some(now.into()));
    let mut finalizers: Vec<&str> = metadata::finalizers(crd);
    if !finalizers.contains(&CLEANUP) {
        finalizers.push(CLEANUP);
    }
    metadata::set(&mut next, "finalizers", Some(json!(finalizers)));
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    terminating(&mut next, "True", "InstanceDeletionPending", message, now);
    next
}

/// The CRD while its objects are deleted.
#[must_use]
pub fn deleting(crd: &Value, now: &str) -> Value {
    let mut next = crd.clone();
    let message = "CustomResource deletion is in progress";
    terminating(&mut next, "True", "InstanceDeletionInProgress", message, now);
    next
}

/// The CRD when its objects are gone: nothing of ours keeps it any more.
#[must_use]
pub fn cleaned(crd: &Value, now: &str) -> Value {
    let mut next = crd.clone();
    let (reason, message) = if is_true_condition(crd, "Established") {
        ("InstanceDeletionCompleted", "removed all instances")
    } else {
        ("NeverEstablished", "resource was never established")
    };
    terminating(&mut next, "False", reason, message, now);
    let left: Vec<&str> = metadata::finalizers(crd).into_iter().filter(|name| *name != CLEANUP).collect();
    metadata::set(&mut next, "finalizers", (!left.is_empty()).then(|| json!(left)));
    next
}

/// Whether a CRD has got its names and is served.
pub fn is_established(crd: &Value) -> bool {
    is_true_condition(crd, "Established")
}

/// Whether a condition is there, and true.
pub(super) fn is_true_condition(crd: &Value, kind: &str) -> bool {
    condition(crd, kind).is_some_and(|condition| text(condition, "/status") == "True")
}

fn condition<'a>(crd: &'a Value, kind: &str) -> Option<&'a Value> {
    list(crd, "/status/conditions").iter().find(|condition| text(condition, "/type") == kind)
}

fn terminating(crd: &mut Value, status: &str, reason: &str, message: &str, now: &str) {
    let condition = json!({"type": "Terminating", "status": status, "reason": reason, "message": message});
    set_condition(crd, condition, now);
}

/// Sets a condition; its time moves only when its status does.
fn set_condition(crd: &mut Value, mut condition: Value, now: &str) {
    let kind = text(&condition, "/type").to_owned();
    let known = self::condition(crd, &kind).filter(|known| known["status"] == condition["status"]);
    let since = known.map(|known| text(known, "/lastTransitionTime")).filter(|since| !since.is_empty());
    condition["lastTransitionTime"] = since.unwrap_or(now).into();
    let Some(status) = object_at(crd, "status") else { return };
    let conditions = status.entry("conditions").or_insert(Value::Null);
    let mut all = conditions.as_array().cloned().unwrap_or_default();
    match all.iter_mut().find(|known| text(known, "/type") == kind) {
        Some(known) => *known = condition,
        None => all.push(condition),
    }
    *conditions = Value::Array(all);
}

/// The names that other CRDs, and the CRD itself, already have in its group: of resources, and of kinds.
struct Taken<'a> {
    resources: Vec<&'a str>,
    kinds: Vec<&'a str>,
}

impl<'a> Taken<'a> {
    fn of(crd: &'a Value, others: &'a [Value]) -> Self {
        let group = text(crd, "/spec/group");
        let all = others.iter().filter(|other| text(other, "/spec/group") == group).chain([crd]);
        let (mut resources, mut kinds) = (Vec::new(), Vec::new());
        for names in all.filter_map(|crd| crd.pointer("/status/acceptedNames")) {
            resources.extend([text(names, "/plural"), text(names, "/singular")]);
            resources.extend(texts(list(names, "/shortNames")));
            kinds.extend([text(names, "/kind"), text(names, "/listKind")]);
        }
        Self { resources, kinds }
    }
}

/// Gives the CRD those of its names that nobody has, and says so.
fn accept_names(crd: &mut Value, others: &[Value], now: &str) {
    let wanted = crd.pointer("/spec/names").cloned().unwrap_or_default();
    let accepted = crd.pointer("/status/acceptedNames").cloned().unwrap_or_default();
    if NAMES.iter().all(|field| says(&wanted, field) == says(&accepted, field)) {
        return;
    }
    let taken = Taken::of(crd, others);
    let mut conflict: Option<(&str, String)> = None;
    let mut names = accepted.as_object().cloned().unwrap_or_default();
    let known: Vec<&str> = texts(list(&accepted, "/shortNames")).collect();
    for (field, reason, used) in [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ] {
        if says(&wanted, field) == says(&accepted, field) {
            continue;
        }
        let asked: Vec<&str> = match wanted.get(field) {
            Some(Value::Array(all)) => texts(all).filter(|name| !known.contains(name)).collect(),
            one => one.and_then(Value::as_str).into_iter().collect(),
        };
        let clashes = asked.into_iter().filter(|name| used.contains(name));
        let clashes: Vec<String> = clashes.map(|name| format!("{name:?} is already in use")).collect();
        match clashes.as_slice() {
            [] => take(&mut names, &wanted, field),
            [one] => conflict = Some((reason, one.clone())),
            several => conflict = Some((reason, format!("[{}]", several.join(", ")))),
        }
    }
    take(&mut names, &wanted, "categories");
    let condition = match &conflict {
        None => {
            json!({"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"})
        }
        Some((reason, message)) => {
            json!({"type": "NamesAccepted", "status": "False", "reason": reason, "message": message})
        }
    };
    if let Some(status) = object_at(crd, "status") {
        status.insert("acceptedNames".to_owned(), Value::Object(names));
    }
    set_condition(crd, condition, now);
    if is_true_condition(crd, "Established") {
        return;
    }
    if conflict.is_none() {
        let message = "the initial names have been accepted";
        let installing =
            json!({"type": "Established", "status": "False", "reason": "Installing", "message": message});
        set_condition(crd, installing, now);
    } else if self::condition(crd, "Established").is_none() {
        let message = "not all names are accepted";
        let refused =
            json!({"type": "Established", "status": "False", "reason": "NotAccepted", "message": message});
        set_condition(crd, refused, now);
    }
}

/// What names say in this field; an empty text says nothing.
fn says<'a>(names: &'a Value, field: &str) -> Option<&'a Value> {
    something(names.get(field)).filter(|value| value.as_str() != Some(""))
}

fn take(names: &mut Map<String, Value>, wanted: &Value, field: &str) {
    match says(wanted, field) {
        Some(value) => drop(names.insert(field.to_owned(), value.clone())),
        None => drop(names.remove(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn crd(plural: &str, kind: &str, short: &[&str]) -> Value {
        let names = json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"), "shortNames": short});
        json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "names": names},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
        })
    }

    fn said(crd: &Value) -> Vec<String> {
        let all = list(crd, "/status/conditions").iter();
        all.map(|it| {
            format!(
                "{}={} {}: {}",
                text(it, "/type"),
                text(it, "/status"),
                text(it, "/reason"),
                text(it, "/message")
            )
        })
        .collect()
    }

    #[test]
    fn free_names_are_accepted_and_the_crd_is_established() {
        let done = established(&crd("as", "A", &["x"]), &[], NOW).unwrap();
        assert_eq!(
            said(&done),
            [
                "NamesAccepted=True NoConflicts: no conflicts found",
                "Established=True InitialNamesAccepted: the initial names have been accepted",
            ]
        );
        assert_eq!(done["status"]["acceptedNames"], done["spec"]["names"]);
        assert_eq!(established(&done, &[], "later"), None);
    }

    #[test]
    fn names_of_others_are_refused_and_the_rest_is_accepted() {
        let first = established(&crd("as", "A", &["x", "y"]), &[], NOW).unwrap();
        let second = established(&crd("bs", "A", &["x", "y", "z"]), &[first], NOW).unwrap();
        assert_eq!(
            said(&second),
            [
                "NamesAccepted=False ListKindConflict: \"AList\" is already in use",
                "Established=False NotAccepted: not all names are accepted",
            ]
        );
        assert_eq!(second["status"]["acceptedNames"], json!({"plural": "bs", "kind": ""}));
        assert!(established(&second, &[], "later").is_some(), "the names are free now");
    }

    #[test]
    fn a_deletion_is_told_step_by_step() {
        let done = established(&crd("as", "A", &[]), &[], NOW).unwrap();
        let marked = marked(&done, NOW);
        assert_eq!(marked["metadata"]["finalizers"], json!([CLEANUP]));
        assert_eq!(said(&marked)[2].split(' ').nth(1), Some("InstanceDeletionPending:"));
        let gone = cleaned(&deleting(&marked, NOW), "later");
        assert_eq!(gone["metadata"].get("finalizers"), None);
        assert_eq!(said(&gone)[2], "Terminating=False InstanceDeletionCompleted: removed all instances");
        assert_eq!(gone["status"]["conditions"][2]["lastTransitionTime"], "later");
    }
}
