//! `PersistentVolume`s.

use serde_json::{Value, json};

use super::claim::{VOLUME_MODES, check_modes, protect};
use super::controllers::reset_status;
use super::fields::{at, fill, fill_text, given, inner, list, set, text, with};
use super::names;
use super::quantity::quantity;
use super::template::{Owner, check_driver, check_host_path, check_node_selector, default_driver, round_up};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// Keeps a volume while a claim has it.
const PROTECTION: &str = "kubernetes.io/pv-protection";
const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];
/// The sources of a volume, in the order in which the server looks at them: the first counts.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// What is particular to `PersistentVolume`s.
#[derive(Debug)]
pub(super) struct PersistentVolume;

impl Particular for PersistentVolume {
    fn default(&self, object: &mut Value) {
        fill_text(inner(object, "status"), "phase", "Pending");
        let spec = inner(object, "spec");
        fill_text(spec, "persistentVolumeReclaimPolicy", "Retain");
        fill(spec, "volumeMode", "Filesystem");
        with(spec, "capacity", round_up);
        default_driver(spec);
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        match (part, old) {
            (Part::Status, Some(old)) => keep_transition(object, old, around),
            (Part::Whole, _) => {
                let empty = json!({"phase": "Pending", "lastPhaseTransitionTime": around.now()});
                reset_status(object, old, empty);
                if old.is_none() {
                    protect(object, PROTECTION);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return Vec::new();
        }
        let mut errors = Vec::new();
        let spec = at(object, "/spec");
        check_spec(spec, &mut errors);
        if let Some(old) = old {
            let old = at(old, "/spec");
            if sources(spec) != sources(old) {
                let path = Path::new("spec").child("persistentvolumesource");
                let wrong = "spec.persistentvolumesource is immutable after creation\n";
                errors.push(FieldError::forbidden(&path, wrong));
            }
            if given(spec, "volumeMode") != given(old, "volumeMode") {
                let mode = at(spec, "/volumeMode").clone();
                errors.push(FieldError::invalid(&Path::new("volumeMode"), mode, names::IMMUTABLE));
            }
            let (affinity, old_affinity) = (given(spec, "nodeAffinity"), given(old, "nodeAffinity"));
            if old_affinity.is_some() && affinity != old_affinity {
                let shown = affinity.cloned().unwrap_or(Value::Null);
                errors.push(FieldError::invalid(&Path::new("nodeAffinity"), shown, names::IMMUTABLE));
            }
        }
        errors
    }
}

/// When the phase last changed is the server's to say, unless the client does.
fn keep_transition(object: &mut Value, old: &Value, around: &dyn Around) {
    let time = |object| at(object, "/status/lastPhaseTransitionTime").clone();
    let same_phase = at(object, "/status/phase") == at(old, "/status/phase");
    let (given, known) = (time(object), time(old));
    if same_phase && given.is_null() && !known.is_null() {
        set(inner(object, "status"), "lastPhaseTransitionTime", known);
    } else if !same_phase && (given.is_null() || given == known) {
        set(inner(object, "status"), "lastPhaseTransitionTime", around.now());
    }
}

fn sources(spec: &Value) -> Vec<(&'static str, &Value)> {
    SOURCES.into_iter().filter_map(|source| given(spec, source).map(|content| (source, content))).collect()
}

fn check_spec(spec: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("spec");
    let path_of_modes = path.child("accessModes");
    if list(spec, "accessModes").is_empty() {
        errors.push(FieldError::required(&path_of_modes, ""));
    }
    check_modes(list(spec, "accessModes"), &path_of_modes, errors);
    check_capacity(spec, &path.child("capacity"), errors);
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    if !RECLAIM_POLICIES.contains(&policy) {
        let path = path.child("persistentVolumeReclaimPolicy");
        errors.push(names::not_one_of(&path, policy, &RECLAIM_POLICIES));
    }
    check_affinity(spec, &path.child("nodeAffinity"), errors);
    check_sources(spec, &path, errors);
    match text(spec, "storageClassName") {
        "" => {}
        class => names::check(names::dns_subdomain, class, &path.child("storageClassName"), errors),
    }
    let mode = text(spec, "volumeMode");
    if !VOLUME_MODES.contains(&mode) {
        errors.push(names::not_one_of(&path.child("volumeMode"), mode, &VOLUME_MODES));
    }
}

fn check_capacity(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let capacity = at(spec, "/capacity").as_object();
    let count = capacity.map_or(0, serde_json::Map::len);
    if count == 0 {
        errors.push(FieldError::required(path, ""));
    }
    if count != 1 || capacity.is_none_or(|capacity| !capacity.contains_key("storage")) {
        let shown = at(spec, "/capacity").clone();
        errors.push(FieldError::not_supported(path, shown, &["storage".to_owned()]));
    }
    for (name, amount) in capacity.into_iter().flatten() {
        let Some(amount) = quantity(amount).filter(|amount| !amount.sign().is_gt()) else { continue };
        let path = path.key(name);
        errors.push(FieldError::invalid(&path, amount.to_string(), "must be greater than zero"));
    }
}

fn check_affinity(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(affinity) = given(spec, "nodeAffinity") else { return };
    let path = path.child("required");
    if let Some(required) = given(affinity, "required") {
        check_node_selector(required, &path, errors);
    } else {
        errors.push(FieldError::required(&path, "must specify required node constraints"));
    }
}

fn check_sources(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let given = sources(spec);
    let Some(((first, source), others)) = given.split_first() else {
        errors.push(FieldError::required(path, "must specify a volume type"));
        return;
    };
    match *first {
        "hostPath" => check_host_path(source, &path.child("hostPath"), errors),
        "local" => check_local(spec, source, path, errors),
        driver => check_driver(driver, source, Owner::Persistent, path, errors),
    }
    for (other, _) in others {
        errors.push(FieldError::forbidden(&path.child(other), "may not specify more than 1 volume type"));
    }
}

fn check_local(spec: &Value, source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path_of_directory = path.child("local").child("path");
    match text(source, "path") {
        "" => errors.push(FieldError::required(&path_of_directory, "")),
        directory => names::check_no_way_up(directory, &path_of_directory, errors),
    }
    if given(spec, "nodeAffinity").is_none() {
        let wrong = "Local volume requires node affinity";
        errors.push(FieldError::required(&path.child("nodeAffinity"), wrong));
    }
}
