//! What `metadata` must be, for objects of all kinds alike: names, labels, annotations, owners, finalizers.

mod names;
#[cfg(test)]
mod tests;

pub use names::{NameRule, label, label_1035, label_key, label_value, path_segment, subdomain};

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::lifecycle::metadata::{field, finalizers, is_ending, text};
use crate::schema::{FieldError, Path, go_json};

/// How large the annotations of one object may be together, keys and values.
const MAX_ANNOTATIONS: usize = 256 * 1024;
/// Longest name of one who manages fields.
const MAX_MANAGER: i64 = 128;
/// Longest name of a subresource.
const MAX_SUBRESOURCE: i64 = 256;

/// The finalizers that need no domain before them.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// What depends on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What the name must be.
    pub name: NameRule,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether finalizers without a domain must be standard ones: with most built-in kinds, not with custom resources.
    pub standard_finalizers: bool,
    /// How often an update is checked, and what is wrong with it therefore said: as a new object is, and as a change is.
    pub checks: (usize, usize),
}

impl Rules {
    /// Those of custom resources.
    pub const fn of_custom_resource(namespaced: bool) -> Self {
        Self { name: NameRule::Subdomain, namespaced, standard_finalizers: false, checks: (1, 2) }
    }
}

/// What is wrong with the metadata of a new object, which has its name already.
pub fn check_create(object: &Value, rules: Rules) -> Vec<FieldError> {
    let mut errors = check(object, rules);
    if rules.standard_finalizers {
        errors.extend(check_standard_finalizers(object));
    }
    errors
}

/// What is wrong with the metadata of an object that replaces `old`. As the server checks it once for all
/// objects and again for the kind, some of it is said several times.
pub fn check_update(object: &Value, old: &Value, rules: Rules) -> Vec<FieldError> {
    let (as_new, as_changes) = rules.checks;
    let mut errors = check(object, Rules { name: NameRule::PathSegment, ..rules });
    for _ in 0..as_changes {
        errors.extend(check_change(object, old));
    }
    for _ in 1..as_new {
        errors.extend(check(object, rules));
    }
    if rules.standard_finalizers {
        errors.extend(check_standard_finalizers(object));
    }
    errors
}

/// What is worth a warning of finalizers that a custom resource gets: those without a domain may be another's too.
pub fn unqualified_finalizers(object: &Value, old: Option<&Value>) -> Vec<String> {
    let known: HashSet<&str> = old.map(finalizers).unwrap_or_default().into_iter().collect();
    let new = finalizers(object).into_iter().filter(|name| !known.contains(name));
    let odd = new.filter(|name| !name.contains('/') && !STANDARD_FINALIZERS.contains(name));
    let advice =
        "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
    odd.map(|name| format!("metadata.finalizers: {name:?}: {advice}")).collect()
}

fn check(object: &Value, rules: Rules) -> Vec<FieldError> {
    let at = Path::new("metadata");
    let mut errors = Vec::new();
    let prefix = text(object, "generateName");
    if !prefix.is_empty() {
        errors.extend(each(&at.child("generateName"), prefix, rules.name.check(prefix, true)));
    }
    match text(object, "name") {
        "" => errors.push(FieldError::required(&at.child("name"), "name or generateName is required")),
        name => errors.extend(each(&at.child("name"), name, rules.name.check(name, false))),
    }
    let namespace = text(object, "namespace");
    match (rules.namespaced, namespace) {
        (true, "") => errors.push(FieldError::required(&at.child("namespace"), "")),
        (true, _) => errors.extend(each(&at.child("namespace"), namespace, label(namespace))),
        (false, "") => {}
        (false, _) => errors.push(FieldError::forbidden(&at.child("namespace"), "not allowed on this type")),
    }
    let generation = crate::lifecycle::metadata::generation(object);
    if generation < 0 {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(&at.child("generation"), generation, why));
    }
    errors.extend(check_texts(object));
    errors.extend(check_owners(object));
    let finalizers = finalizers(object);
    if !finalizers.is_empty() {
        errors.extend(check_finalizers(&finalizers, &at.child("finalizers")));
    }
    errors.extend(check_managers(object));
    errors
}

/// What is wrong with labels and annotations.
fn check_texts(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(labels) = field(object, "labels") {
        errors.extend(check_labels(Some(labels), &Path::new("metadata.labels")));
    }
    if let Some(annotations) = field(object, "annotations") {
        errors.extend(check_annotations(Some(annotations), &Path::new("metadata.annotations")));
    }
    errors
}

fn check_change(object: &Value, old: &Value) -> Vec<FieldError> {
    let at = Path::new("metadata");
    let mut errors = Vec::new();
    if is_ending(old) {
        errors.extend(check_new_finalizers(object, old));
    }
    if text(object, "resourceVersion").is_empty() {
        let why = "must be specified for an update";
        errors.push(FieldError::invalid(&at.child("resourceVersion"), "", why));
    }
    for name in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        let new = field(object, name);
        if new != field(old, name) {
            let new = new.cloned().unwrap_or_default();
            errors.push(FieldError::invalid(&at.child(name), new, "field is immutable"));
        }
    }
    errors.extend(check_texts(object));
    errors.extend(check_owners(object));
    errors.extend(check_managers(object));
    errors
}

fn check_new_finalizers(object: &Value, old: &Value) -> Option<FieldError> {
    let known: HashSet<&str> = finalizers(old).into_iter().collect();
    let mut new: Vec<&str> = finalizers(object).into_iter().filter(|one| !known.contains(one)).collect();
    new.sort_unstable();
    new.dedup();
    let quoted: Vec<String> = new.iter().map(|one| format!("{one:?}")).collect();
    let why = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        quoted.join(", ")
    );
    (!new.is_empty()).then(|| FieldError::forbidden(&Path::new("metadata").child("finalizers"), why))
}

/// What is wrong with labels, those of a pod template or a selector among them.
pub fn check_labels(labels: Option<&Value>, at: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in pairs(labels) {
        errors.extend(each(at, key, label_key(key)));
        errors.extend(each(at, value, label_value(value)));
    }
    errors
}

/// What is wrong with annotations, those of a pod template among them.
pub fn check_annotations(annotations: Option<&Value>, at: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in pairs(annotations) {
        errors.extend(each(at, key, label_key(&key.to_lowercase())));
        size += key.len() + value.len();
    }
    if size > MAX_ANNOTATIONS {
        errors.push(FieldError::too_long(at, i64::try_from(MAX_ANNOTATIONS).unwrap_or(i64::MAX)));
    }
    errors
}

fn check_owners(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    let Some(Value::Array(owners)) = field(object, "ownerReferences") else { return errors };
    let at = &Path::new("metadata.ownerReferences");
    for owner in owners {
        let field = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut must = |name: &str, wrong: bool, why: &str| {
            if wrong {
                errors.push(FieldError::invalid(&at.child(name), field(name), why));
            }
        };
        let version = version_of(field("apiVersion"));
        must("apiVersion", version.is_empty(), "version must not be empty");
        must("kind", field("kind").is_empty(), "must not be empty");
        must("name", field("name").is_empty(), "must not be empty");
        must("uid", field("uid").is_empty(), "must not be empty");
        if (field("apiVersion"), field("kind")) == ("v1", "Event") {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid_shown(at, owner.clone(), shown(owner), why));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let this = format!("{}/{}", field("kind"), field("name"));
            match &controller {
                Some(first) => {
                    let why = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                    );
                    let all: Vec<String> = owners.iter().map(shown).collect();
                    let all = format!("[{}]", all.join(","));
                    errors.push(FieldError::invalid_shown(at, Value::Array(owners.clone()), all, why));
                }
                None => controller = Some(this),
            }
        }
    }
    errors
}

/// An owner with its fields in the order of the server's type.
fn shown(owner: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let fields = fields.iter().filter_map(|name| Some(format!("\"{name}\":{}", go_json(owner.get(*name)?))));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// The version in an `apiVersion`; "" where there is none.
fn version_of(api_version: &str) -> &str {
    match api_version.split_once('/') {
        None => api_version,
        Some((_, version)) if !version.contains('/') => version,
        Some(_) => "",
    }
}

fn check_finalizers(finalizers: &[&str], at: &Path) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> =
        finalizers.iter().flat_map(|one| each(at, one, label_key(one))).collect();
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(at, finalizers.to_vec(), why));
    }
    errors
}

fn check_standard_finalizers(object: &Value) -> Vec<FieldError> {
    let at = Path::new("metadata").child("finalizers");
    let why = "name is neither a standard finalizer name nor is it fully qualified";
    let all = finalizers(object).into_iter().enumerate();
    all.filter(|(_, one)| !one.contains('/') && !STANDARD_FINALIZERS.contains(one))
        .map(|(index, one)| FieldError::invalid(&at.index(index), one, why))
        .collect()
}

fn check_managers(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let entries = field(object, "managedFields").and_then(Value::as_array);
    for (index, entry) in entries.into_iter().flatten().enumerate() {
        let at = |name: &str| Path::new("metadata.managedFields").index(index).child(name);
        let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        if !matches!(field("operation"), "Apply" | "Update") {
            let why = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(&at("operation"), field("operation"), why));
        }
        if !matches!(field("fieldsType"), "" | "FieldsV1") {
            let why = "must be `FieldsV1`";
            errors.push(FieldError::invalid(&at("fieldsType"), field("fieldsType"), why));
        }
        for (name, max) in [("manager", MAX_MANAGER), ("subresource", MAX_SUBRESOURCE)] {
            if i64::try_from(field(name).len()).is_ok_and(|length| length > max) {
                errors.push(FieldError::too_long(&at(name), max));
            }
        }
    }
    errors
}

fn each(at: &Path, value: &str, wrong: Vec<String>) -> Vec<FieldError> {
    wrong.into_iter().map(|why| FieldError::invalid(at, value, why)).collect()
}

fn pairs(map: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let fields = map.and_then(Value::as_object).into_iter().flat_map(Map::iter);
    fields.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}
