//! The volumes of a Pod.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::{given, list, number, text};
use super::super::names;
use super::super::quantity::quantity;
use super::drivers::{Owner, check_driver};
use super::env::{check_field, check_resource};
use crate::schema::{FieldError, Path};

/// The sources of a volume, in the order in which the server looks at them: the first counts.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];
const HOST_PATH_TYPES: [&str; 8] =
    ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
const WRONG_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
/// The fields of a Pod that a file may show.
const FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// Checks the volumes, and gives the names of those that can be mounted.
pub(super) fn check_volumes<'a>(
    spec: &'a Value,
    path: &Path,
    errors: &mut Vec<FieldError>,
) -> HashSet<&'a str> {
    let mut known = HashSet::new();
    for (index, volume) in list(spec, "volumes").iter().enumerate() {
        let path = path.child("volumes").index(index);
        let mut wrong = Vec::new();
        check_source(volume, &path, &mut wrong);
        let name = text(volume, "name");
        match name {
            "" => wrong.push(FieldError::required(&path.child("name"), "")),
            name => names::check(names::dns_label, name, &path.child("name"), &mut wrong),
        }
        if known.contains(name) {
            wrong.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
        }
        if wrong.is_empty() {
            known.insert(name);
        }
        errors.append(&mut wrong);
    }
    known
}

fn check_source(volume: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let kinds: Vec<&str> = SOURCES.into_iter().filter(|source| given(volume, source).is_some()).collect();
    let Some((first, others)) = kinds.split_first() else {
        errors.push(FieldError::required(path, "must specify a volume type"));
        return;
    };
    let (source, path_of_source) = (&volume[first], path.child(first));
    match *first {
        "emptyDir" => check_empty_dir(source, &path_of_source, errors),
        "hostPath" => check_host_path(source, &path_of_source, errors),
        "secret" => check_files(source, "secretName", &path_of_source, errors),
        "configMap" => check_files(source, "name", &path_of_source, errors),
        "persistentVolumeClaim" if text(source, "claimName").is_empty() => {
            errors.push(FieldError::required(&path_of_source.child("claimName"), ""));
        }
        "downwardAPI" => check_downward(source, &path_of_source, errors),
        "projected" => check_projected(source, &path_of_source, errors),
        "ephemeral" if given(source, "volumeClaimTemplate").is_none() => {
            errors.push(FieldError::required(&path_of_source.child("volumeClaimTemplate"), ""));
        }
        driver => check_driver(driver, source, Owner::Pod, path, errors),
    }
    for other in others {
        errors.push(FieldError::forbidden(&path.child(other), "may not specify more than 1 volume type"));
    }
}

fn check_empty_dir(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if given(source, "sizeLimit").and_then(quantity).is_some_and(|limit| limit.sign().is_lt()) {
        let wrong = "SizeLimit field must be a valid resource quantity";
        errors.push(FieldError::forbidden(&path.child("sizeLimit"), wrong));
    }
}

/// Checks a directory of the node.
pub(in super::super) fn check_host_path(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let target = text(source, "path");
    if target.is_empty() {
        errors.push(FieldError::required(&path.child("path"), ""));
        return;
    }
    names::check_no_way_up(target, &path.child("path"), errors);
    let kind = text(source, "type");
    if !HOST_PATH_TYPES.contains(&kind) {
        errors.push(names::not_one_of(&path.child("type"), kind, &HOST_PATH_TYPES));
    }
}

/// The files of a config map or a secret.
fn check_files(source: &Value, name: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if text(source, name).is_empty() {
        errors.push(FieldError::required(&path.child(name), ""));
    }
    check_mode(source, "defaultMode", path, errors);
    check_items(source, path, errors);
}

fn check_items(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, item) in list(source, "items").iter().enumerate() {
        let path = path.child("items").index(index);
        for field in ["key", "path"] {
            if text(item, field).is_empty() {
                errors.push(FieldError::required(&path.child(field), ""));
            }
        }
        check_file_name(text(item, "path"), &path.child("path"), errors);
        check_mode(item, "mode", &path, errors);
    }
}

/// A path inside the volume; names with two dots in front are the volume's own.
fn check_file_name(target: &str, path: &Path, errors: &mut Vec<FieldError>) {
    names::check_path_down(target, path, errors);
    if target.starts_with("..") && !target.starts_with("../") && target != ".." {
        errors.push(FieldError::invalid(path, target, "must not start with '..'"));
    }
}

fn check_mode(owner: &Value, field: &str, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(mode) = number(owner, field).filter(|mode| !(0..=0o777).contains(mode)) {
        errors.push(FieldError::invalid(&path.child(field), mode, WRONG_MODE));
    }
}

fn check_downward(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_mode(source, "defaultMode", path, errors);
    for file in list(source, "items") {
        // The server does not say which of the files it is.
        check_downward_file(file, path, errors);
    }
}

fn check_downward_file(file: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if text(file, "path").is_empty() {
        errors.push(FieldError::required(&path.child("path"), ""));
    }
    check_file_name(text(file, "path"), &path.child("path"), errors);
    match (given(file, "fieldRef"), given(file, "resourceFieldRef")) {
        (Some(reference), other) => {
            check_field(reference, &FIELDS, &path.child("fieldRef"), errors);
            if other.is_some() {
                let wrong = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(path, "resource", wrong));
            }
        }
        (None, Some(reference)) => check_resource(reference, true, &path.child("resourceFieldRef"), errors),
        (None, None) => {
            errors.push(FieldError::required(path, "one of fieldRef and resourceFieldRef is required"));
        }
    }
    check_mode(file, "mode", path, errors);
}

fn check_projected(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_mode(source, "defaultMode", path, errors);
    for (index, part) in list(source, "sources").iter().enumerate() {
        let own = path.child("sources").index(index);
        for kind in ["secret", "configMap"] {
            let Some(files) = given(part, kind) else { continue };
            if text(files, "name").is_empty() {
                errors.push(FieldError::required(&own.child(kind).child("name"), ""));
            }
            check_items(files, &own.child(kind), errors);
        }
        for file in given(part, "downwardAPI").map_or(&[][..], |files| list(files, "items")) {
            check_downward_file(file, &own.child("downwardAPI"), errors);
        }
        if let Some(token) = given(part, "serviceAccountToken") {
            check_token(token, &own.child("serviceAccountToken"), path, errors);
        }
        if part.as_object().is_some_and(|kinds| kinds.len() > 1) {
            errors.push(FieldError::forbidden(&own, "may not specify more than 1 volume type per source"));
        }
    }
}

fn check_token(token: &Value, own: &Path, volume: &Path, errors: &mut Vec<FieldError>) {
    let path_of_seconds = own.child("expirationSeconds");
    match number(token, "expirationSeconds").unwrap_or(0) {
        seconds if seconds < 600 => {
            let wrong = "may not specify a duration less than 10 minutes";
            errors.push(FieldError::invalid(&path_of_seconds, seconds, wrong));
        }
        seconds if seconds > 1 << 32 => {
            let wrong = "may not specify a duration larger than 2^32 seconds";
            errors.push(FieldError::invalid(&path_of_seconds, seconds, wrong));
        }
        _ => {}
    }
    match text(token, "path") {
        "" => errors.push(FieldError::required(&volume.child("path"), "")),
        target => check_file_name(target, &volume.child("path"), errors),
    }
}
