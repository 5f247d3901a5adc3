//! Where a container sees its volumes.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::{given, is_true, list, text};
use super::super::names;
use crate::schema::{FieldError, Path};

/// Checks `volumeMounts` and `volumeDevices`; `volumes` are the names of those that there are.
pub(super) fn check_mounts(
    container: &Value,
    volumes: &HashSet<&str>,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    let devices = list(container, "volumeDevices");
    let of_devices =
        |field: &str| -> HashSet<&str> { devices.iter().map(|device| text(device, field)).collect() };
    let (device_names, device_paths) = (of_devices("name"), of_devices("devicePath"));
    let mut paths = HashSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let all = path.child("volumeMounts");
        let own = all.index(index);
        check_name(mount, volumes, &own, errors);
        let target = text(mount, "mountPath");
        if target.is_empty() {
            errors.push(FieldError::required(&own.child("mountPath"), ""));
        }
        if !paths.insert(target) {
            errors.push(FieldError::invalid(&own.child("mountPath"), target, "must be unique"));
        }
        if device_names.contains(text(mount, "name")) {
            let wrong = "must not already exist in volumeDevices";
            errors.push(FieldError::invalid(&own.child("name"), text(mount, "name"), wrong));
        }
        if device_paths.contains(target) {
            let wrong = "must not already exist as a path in volumeDevices";
            errors.push(FieldError::invalid(&own.child("mountPath"), target, wrong));
        }
        check_inside(mount, &own, &all, errors);
        check_propagation(mount, container, &all.child("mountPropagation"), errors);
    }
    for (index, device) in devices.iter().enumerate() {
        let own = path.child("volumeDevices").index(index);
        check_name(device, volumes, &own, errors);
        if text(device, "devicePath").is_empty() {
            errors.push(FieldError::required(&own.child("devicePath"), ""));
        }
    }
}

fn check_name(mount: &Value, volumes: &HashSet<&str>, path: &Path, errors: &mut Vec<FieldError>) {
    let name = text(mount, "name");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    }
    if !volumes.contains(name) {
        errors.push(FieldError::not_found(&path.child("name"), name));
    }
}

/// The part of the volume that is shown; the server names the list, not the item, when it is wrong.
fn check_inside(mount: &Value, own: &Path, all: &Path, errors: &mut Vec<FieldError>) {
    let (inside, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
    if !inside.is_empty() {
        names::check_path_down(inside, &all.child("subPath"), errors);
    }
    if !expression.is_empty() {
        if !inside.is_empty() {
            let wrong = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid(&own.child("subPathExpr"), expression, wrong));
        }
        names::check_path_down(expression, &all.child("subPathExpr"), errors);
    }
}

fn check_propagation(mount: &Value, container: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(propagation) = given(mount, "mountPropagation").and_then(Value::as_str) else { return };
    let known = ["Bidirectional", "HostToContainer", "None"];
    if !known.contains(&propagation) {
        errors.push(names::not_one_of(path, propagation, &known));
    }
    let privileged =
        given(container, "securityContext").is_some_and(|context| is_true(context, "privileged"));
    if propagation == "Bidirectional" && !privileged {
        let wrong = "Bidirectional mount propagation is available only to privileged containers";
        errors.push(FieldError::forbidden(path, wrong));
    }
}
