//! `PersistentVolumeClaim`s, and the templates of claims.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::controllers::reset_status;
use super::fields::{at, fill, fill_text, given, inner, is_true, list, set, text, unset, with};
use super::quantity::{Quantity, quantity};
use super::template::round_up;
use super::{names, selector};
use crate::error::{ApiError, Reason, Subject};
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// Keeps a claim while a Pod uses it.
const PROTECTION: &str = "kubernetes.io/pvc-protection";
/// Where the class of a claim was written before there was a field.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// The annotations that make a class the one of claims that name none.
const IS_DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
const CLASSES: &str = "storage.k8s.io/storageclasses";
pub(super) const ACCESS_MODES: [&str; 4] =
    ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
pub(super) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const OTHER_CHANGES: &str = "spec is immutable after creation except resources.requests and volumeAttributesClassName for \
     bound claims\n";

/// What is particular to `PersistentVolumeClaim`s.
#[derive(Debug)]
pub(super) struct PersistentVolumeClaim;

/// Fills in a claim, or a template of claims in a `StatefulSet`.
pub(super) fn default_object(claim: &mut Value) {
    fill_text(inner(claim, "status"), "phase", "Pending");
    inner(claim, "metadata");
    default_spec(inner(claim, "spec"));
    with(claim, "status", |status| {
        with(status, "capacity", round_up);
        with(status, "allocatedResources", round_up);
    });
}

/// Fills in the spec of a claim.
pub(super) fn default_spec(spec: &mut Value) {
    fill(spec, "volumeMode", "Filesystem");
    let resources = inner(spec, "resources");
    with(resources, "limits", round_up);
    with(resources, "requests", round_up);
}

impl Particular for PersistentVolumeClaim {
    fn default(&self, object: &mut Value) {
        default_object(object);
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        if part != Part::Whole {
            return Ok(());
        }
        let has_class = at(object, "/spec/storageClassName").is_string()
            || at(object, "/metadata/annotations").get(OLD_CLASS).is_some();
        if !has_class && let Some(class) = default_class(around) {
            set(inner(object, "spec"), "storageClassName", class);
        }
        if old.is_none() {
            protect(object, PROTECTION);
        }
        reset_status(object, old, json!({"phase": "Pending"}));
        mirror_source(inner(object, "spec"));
        // What is wrong in itself is said first.
        if let Some(old) = old
            && let Err(refusal) = check_growth(object, old, around)
            && self.check(object, Some(old), part).is_empty()
        {
            return Err(refusal);
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return Vec::new();
        }
        let mut errors = Vec::new();
        check_spec(at(object, "/spec"), &Path::new("spec"), &mut errors);
        if let Some(old) = old {
            check_changes(object, old, &mut errors);
        }
        errors
    }
}

/// Adds a finalizer that keeps an object while it is used.
pub(super) fn protect(object: &mut Value, finalizer: &str) {
    let mut finalizers: Vec<Value> = metadata::finalizers(object).into_iter().map(Value::from).collect();
    if !finalizers.iter().any(|known| known == finalizer) {
        finalizers.push(finalizer.into());
    }
    metadata::set(object, "finalizers", Some(finalizers.into()));
}

/// The class of claims that name none: of those so marked the newest, then the first by name.
fn default_class(around: &dyn Around) -> Option<String> {
    let classes = around.list(CLASSES);
    let marked = classes.iter().filter(|class| {
        let annotations = at(class, "/metadata/annotations");
        IS_DEFAULT.iter().any(|name| text(annotations, name) == "true")
    });
    marked
        .max_by_key(|class| {
            let name = metadata::text(class, "name");
            (metadata::text(class, "creationTimestamp").to_owned(), Reverse(name.to_owned()))
        })
        .map(|class| metadata::text(class, "name").to_owned())
}

/// A source is said in two ways, of which the older one is understood for claims and snapshots only.
fn mirror_source(spec: &mut Value) {
    let source = given(spec, "dataSource").cloned();
    let reference = given(spec, "dataSourceRef").cloned();
    match (source, reference) {
        (Some(source), None) if is_old_source(&source) => set(spec, "dataSourceRef", source),
        (Some(_), None) => unset(spec, "dataSource"),
        (None, Some(reference)) if text(&reference, "namespace").is_empty() => {
            set(spec, "dataSource", reference);
        }
        _ => {}
    }
}

fn is_old_source(source: &Value) -> bool {
    matches!(
        (text(source, "apiGroup"), text(source, "kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    )
}

/// What a claim asks for.
fn size(claim: &Value) -> Option<Quantity> {
    claim.pointer("/spec/resources/requests/storage").and_then(quantity)
}

fn class(claim: &Value) -> &str {
    match text(at(claim, "/metadata/annotations"), OLD_CLASS) {
        "" => text(at(claim, "/spec"), "storageClassName"),
        class => class,
    }
}

/// A claim grows only when it is bound and its class lets it.
fn check_growth(object: &Value, old: &Value, around: &dyn Around) -> Result<(), ApiError> {
    let grows = size(object).zip(size(old)).is_some_and(|(new, old)| new > old);
    if !grows {
        return Ok(());
    }
    let refused = |why: &str| {
        let name = metadata::text(object, "name");
        Err(forbidden("persistentvolumeclaims", name, why))
    };
    if at(old, "/status/phase") != "Bound" {
        return refused("Only bound persistent volume claims can be expanded");
    }
    let name = class(object);
    let allows = name == class(old)
        && around.get(CLASSES, "", name).is_some_and(|class| is_true(&class, "allowVolumeExpansion"));
    if allows {
        return Ok(());
    }
    refused(
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
    )
}

/// An object of the core group that must not be written like that.
pub(super) fn forbidden(resource: &str, name: &str, why: &str) -> ApiError {
    let message = format!("{resource} {name:?} is forbidden: {why}");
    let subject = Subject { name: name.to_owned(), kind: resource.to_owned(), ..Subject::default() };
    ApiError { subject: Some(Box::new(subject)), ..ApiError::new(Reason::Forbidden, message) }
}

/// Checks the spec of a claim.
pub(super) fn check_spec(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path_of_modes = path.child("accessModes");
    if list(spec, "accessModes").is_empty() {
        errors.push(FieldError::required(&path_of_modes, "at least 1 access mode is required"));
    }
    if let Some(wish) = given(spec, "selector") {
        selector::check(wish, &path.child("selector"), errors);
    }
    check_modes(list(spec, "accessModes"), &path_of_modes, errors);
    check_size(spec, &path.child("resources").key("storage"), errors);
    match text(spec, "storageClassName") {
        "" => {}
        class => names::check(names::dns_subdomain, class, &path.child("storageClassName"), errors),
    }
    let mode = text(spec, "volumeMode");
    if !VOLUME_MODES.contains(&mode) {
        errors.push(names::not_one_of(&path.child("volumeMode"), mode, &VOLUME_MODES));
    }
}

/// Checks access modes; one Pod alone goes with no other.
pub(super) fn check_modes(modes: &[Value], path: &Path, errors: &mut Vec<FieldError>) {
    let modes: Vec<&str> = modes.iter().filter_map(Value::as_str).collect();
    let (known, unknown): (Vec<&str>, Vec<&str>) = modes.iter().partition(|mode| ACCESS_MODES.contains(mode));
    errors.extend(unknown.iter().map(|mode| names::not_one_of(path, mode, &ACCESS_MODES)));
    let alone = known.iter().filter(|mode| **mode == "ReadWriteOncePod").count();
    if alone > 0 && alone < known.len() {
        errors.push(FieldError::forbidden(path, "may not use ReadWriteOncePod with other access modes"));
    }
}

fn check_size(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    match spec.pointer("/resources/requests/storage").and_then(quantity) {
        None => errors.push(FieldError::required(path, "")),
        Some(size) if !size.sign().is_gt() => {
            errors.push(FieldError::invalid(path, size.to_string(), "must be greater than zero"));
        }
        Some(_) => {}
    }
}

fn check_changes(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("spec");
    if comparable(object, old) != comparable(old, old) {
        errors.push(FieldError::forbidden(&path, OTHER_CHANGES));
    }
    let shrinks = size(object).zip(size(old)).is_some_and(|(new, old)| new < old);
    let given = old.pointer("/status/capacity/storage").and_then(quantity);
    let too_small = match (size(object), given) {
        (Some(new), Some(given)) => new <= given,
        (Some(new), None) => !new.sign().is_gt(),
        _ => false,
    };
    if shrinks && too_small {
        let path = path.child("resources").child("requests").child("storage");
        errors.push(FieldError::forbidden(&path, "field can not be less than status.capacity"));
    }
    let (mode, old_mode) = (at(object, "/spec/volumeMode"), at(old, "/spec/volumeMode"));
    if mode != old_mode {
        errors.push(FieldError::invalid(&Path::new("volumeMode"), mode.clone(), names::IMMUTABLE));
    }
}

/// The spec without what may differ from that of `old`.
fn comparable(claim: &Value, old: &Value) -> Value {
    let mut spec = at(claim, "/spec").clone();
    if text(at(old, "/spec"), "volumeName").is_empty() {
        unset(&mut spec, "volumeName");
    }
    if at(old, "/spec/storageClassName").is_null()
        && at(old, "/metadata/annotations").get(OLD_CLASS).is_none()
    {
        unset(&mut spec, "storageClassName");
    }
    if at(old, "/status/phase") == "Bound" {
        unset(&mut spec, "volumeAttributesClassName");
        if let Some(requests) = spec.pointer_mut("/resources/requests") {
            unset(requests, "storage");
        }
    }
    spec
}
