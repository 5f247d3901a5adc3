//! Volumes of drivers: those in Pods and persistent volumes, which have nearly the same fields.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::fields::{given, is_true, list, number, text};
use super::super::names;
use crate::schema::{FieldError, Path};

/// Longest name of a CSI driver, in bytes.
const MAX_DRIVER: i64 = 63;
/// The highest number of a unit behind an iSCSI target.
const MAX_LUN: i64 = 255;
/// What iSCSI calls its ends, by how the name begins.
const ISCSI_NAMES: [(&str, &str); 3] = [
    ("iqn", r"iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$"),
    ("eui", r"^eui.[[:alnum:]]{16}$"),
    ("naa", r"^naa.[[:alnum:]]{32}$"),
];
/// What a driver must be told: its field, the name of that field in messages, and texts or lists that may not be empty.
const REQUIRED: [(&str, &str, &[&str]); 13] = [
    ("gcePersistentDisk", "persistentDisk", &["pdName"]),
    ("awsElasticBlockStore", "awsElasticBlockStore", &["volumeID"]),
    ("rbd", "rbd", &["monitors", "image"]),
    ("cephfs", "cephfs", &["monitors"]),
    ("cinder", "cinder", &["volumeID"]),
    ("glusterfs", "glusterfs", &["endpoints", "path"]),
    ("flexVolume", "flexVolume", &["driver"]),
    ("azureFile", "azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", "vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", "photonPersistentDisk", &["pdID"]),
    ("portworxVolume", "portworxVolume", &["volumeID"]),
    ("scaleIO", "scaleIO", &["gateway", "system", "volumeName"]),
    ("gitRepo", "gitRepo", &["repository"]),
];
/// The secrets of a CSI volume that are looked at.
const CSI_SECRETS: [&str; 4] = [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
];

/// What a volume is the volume of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Owner {
    /// A Pod or a template.
    Pod,
    /// It stands for itself.
    Persistent,
}

/// Checks the source of a volume at `path` that a driver of this name brings.
pub(in super::super) fn check_driver(
    driver: &str,
    source: &Value,
    owner: Owner,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    match driver {
        "nfs" => check_nfs(source, &path.child("nfs"), errors),
        "csi" => check_csi(source, owner, &path.child("csi"), errors),
        "iscsi" => check_iscsi(source, owner, &path.child("iscsi"), errors),
        _ => {}
    }
    let Some((_, said, fields)) = REQUIRED.iter().find(|(known, ..)| *known == driver) else { return };
    for field in *fields {
        if text(source, field).is_empty() && list(source, field).is_empty() {
            errors.push(FieldError::required(&path.child(said).child(field), ""));
        }
    }
}

fn check_nfs(source: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for field in ["server", "path"] {
        if text(source, field).is_empty() {
            errors.push(FieldError::required(&path.child(field), ""));
        }
    }
    if !text(source, "path").starts_with('/') {
        let wrong = "must be an absolute path";
        errors.push(FieldError::invalid(&path.child("path"), text(source, "path"), wrong));
    }
}

fn check_csi(source: &Value, owner: Owner, path: &Path, errors: &mut Vec<FieldError>) {
    let driver = text(source, "driver");
    let path_of_driver = path.child("driver");
    if driver.is_empty() {
        errors.push(FieldError::required(&path_of_driver, ""));
    } else {
        if names::is_more(driver.len(), MAX_DRIVER) {
            errors.push(FieldError::too_long(&path_of_driver, MAX_DRIVER));
        }
        let wrong = names::dns_subdomain(&driver.to_lowercase());
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path_of_driver, driver, wrong)));
    }
    if owner == Owner::Persistent && text(source, "volumeHandle").is_empty() {
        errors.push(FieldError::required(&path.child("volumeHandle"), ""));
    }
    let (secrets, fields): (&[&str], &[&str]) = match owner {
        Owner::Pod => (&["nodePublishSecretRef"], &["name"]),
        Owner::Persistent => (&CSI_SECRETS, &["name", "namespace"]),
    };
    for secret in secrets {
        let Some(reference) = given(source, secret) else { continue };
        for field in fields.iter().filter(|field| text(reference, field).is_empty()) {
            errors.push(FieldError::required(&path.child(secret).child(field), ""));
        }
    }
}

fn check_iscsi(source: &Value, owner: Owner, path: &Path, errors: &mut Vec<FieldError>) {
    if text(source, "targetPortal").is_empty() {
        errors.push(FieldError::required(&path.child("targetPortal"), ""));
    }
    match text(source, "iqn") {
        "" => errors.push(FieldError::required(&path.child("iqn"), "")),
        name => check_iscsi_name(name, owner, &path.child("iqn"), errors),
    }
    let lun = number(source, "lun").unwrap_or(0);
    let wrong = names::in_range(lun, 0, MAX_LUN);
    errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path.child("lun"), lun, wrong)));
    let has_password = is_true(source, "chapAuthDiscovery") || is_true(source, "chapAuthSession");
    match given(source, "secretRef") {
        None if has_password => errors.push(FieldError::required(&path.child("secretRef"), "")),
        Some(secret) if owner == Owner::Persistent && text(secret, "name").is_empty() => {
            errors.push(FieldError::required(&path.child("secretRef").child("name"), ""));
        }
        _ => {}
    }
    if let Some(name) = given(source, "initiatorName").and_then(Value::as_str) {
        check_iscsi_name(name, owner, &path.child("initiatorname"), errors);
    }
}

fn check_iscsi_name(name: &str, owner: Owner, path: &Path, errors: &mut Vec<FieldError>) {
    static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        ISCSI_NAMES.iter().filter_map(|(start, text)| Some((*start, Regex::new(text).ok()?))).collect()
    });
    let pattern = PATTERNS.iter().find(|(start, _)| name.starts_with(start));
    let wrong = match pattern {
        Some((_, pattern)) if pattern.is_match(name) => return,
        None if owner == Owner::Pod => "must be valid format starting with iqn, eui, or naa",
        _ => "must be valid format",
    };
    errors.push(FieldError::invalid(path, name, wrong));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_pattern_of_names_is_one() {
        for (name, good) in [
            ("iqn.2001-04.com.example:storage", true),
            ("iqn.2001-4.a:b", false),
            ("eui.0123456789ABCDEF", true),
            ("eui.0123", false),
            ("naa.0123456789ABCDEF", false),
        ] {
            let mut errors = Vec::new();
            let source = json!({"targetPortal": "a", "iqn": name});
            check_iscsi(&source, Owner::Pod, &Path::new("iscsi"), &mut errors);
            assert_eq!(errors.is_empty(), good, "{name}: {errors:?}");
        }
    }
}
