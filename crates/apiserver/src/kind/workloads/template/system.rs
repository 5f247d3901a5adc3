//! The system that a Pod says it runs on, and what of a Pod there is not on every system.

use serde_json::{Value, json};

use super::super::fields::{at, given, list, text};
use super::super::names;
use crate::schema::{FieldError, Path};

/// The fields of a Pod, of its security context and of a container's that have no meaning on Windows, in the server's order.
const NOT_ON_WINDOWS: [&str; 15] = [
    "/securityContext/appArmorProfile",
    "/securityContext/seLinuxOptions",
    "/hostUsers",
    "/hostPID",
    "/hostIPC",
    "/securityContext/seccompProfile",
    "/securityContext/fsGroup",
    "/securityContext/fsGroupChangePolicy",
    "/securityContext/sysctls",
    "/shareProcessNamespace",
    "/securityContext/runAsUser",
    "/securityContext/runAsGroup",
    "/securityContext/supplementalGroups",
    "/securityContext/supplementalGroupsPolicy",
    "/securityContext/seLinuxChangePolicy",
];
const NOT_IN_WINDOWS_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Checks that a Pod that says what it runs on says nothing that is not there.
pub(super) fn check_system(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(system) = given(spec, "os") else { return };
    match text(system, "name") {
        "" => errors.push(FieldError::required(&path.child("os").child("name"), "")),
        "linux" => {
            let wrong = "windows options cannot be set for a linux pod";
            check_absent(
                spec,
                &["/securityContext/windowsOptions"],
                &["windowsOptions"],
                wrong,
                path,
                errors,
            );
        }
        "windows" => {
            let wrong = "cannot be set for a windows pod";
            check_absent(spec, &NOT_ON_WINDOWS, &NOT_IN_WINDOWS_CONTAINERS, wrong, path, errors);
        }
        other => errors.push(names::not_one_of(&path.child("os"), other, &["linux", "windows"])),
    }
}

fn check_absent(
    spec: &Value,
    of_pod: &[&str],
    of_containers: &[&str],
    wrong: &str,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    for pointer in of_pod {
        // The Pod's own namespaces are either the node's or not said.
        let is_off = matches!(*pointer, "/hostPID" | "/hostIPC") && *at(spec, pointer) == json!(false);
        let is_nothing = at(spec, pointer).is_null() || *at(spec, pointer) == json!([]);
        if !is_off && !is_nothing {
            let path = pointer.split('/').skip(1).fold(path.clone(), |path, field| path.child(field));
            errors.push(FieldError::forbidden(&path, wrong));
        }
    }
    for containers in ["initContainers", "containers"] {
        for (index, container) in list(spec, containers).iter().enumerate() {
            for field in of_containers {
                if given(at(container, "/securityContext"), field).is_some() {
                    let path = path.child(containers).index(index).child("securityContext").child(field);
                    errors.push(FieldError::forbidden(&path, wrong));
                }
            }
        }
    }
}
