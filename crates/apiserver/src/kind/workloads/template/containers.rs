//! The containers of a Pod.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::{given, is_true, list, number, text};
use super::super::names;
use super::env::check_env;
use super::handlers::check_handlers;
use super::mounts::check_mounts;
use super::resources::check_resources;
use super::security::{check_app_armor, check_proc_mount, check_seccomp};
use crate::schema::{FieldError, Path};

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const MAX_ID: i64 = i32::MAX as i64;

/// What is around the containers of a Pod.
pub(super) struct Surroundings<'a> {
    /// The names of the volumes.
    pub(super) volumes: HashSet<&'a str>,
    /// The names of the Pod's resource claims.
    pub(super) claims: HashSet<&'a str>,
    /// The Pod's `terminationGracePeriodSeconds`.
    pub(super) grace: Option<i64>,
    /// Whether its users are other than those of the node.
    pub(super) own_users: bool,
}

/// Checks the containers that run beside each other.
pub(super) fn check_containers(
    spec: &Value,
    around: &Surroundings<'_>,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    let path = path.child("containers");
    let containers = list(spec, "containers");
    if containers.is_empty() {
        errors.push(FieldError::required(&path, ""));
        return;
    }
    let mut seen = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index);
        check_container(container, around, &path, errors);
        let name = text(container, "name");
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
        }
        check_handlers(container, around.grace, &path, errors);
        check_restart(container, &path, errors);
    }
    check_host_ports(containers, &path, errors);
}

/// Checks the containers that run before the others.
pub(super) fn check_init_containers(
    spec: &Value,
    around: &Surroundings<'_>,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    let all = path.child("initContainers");
    let mut seen: HashSet<&str> =
        list(spec, "containers").iter().map(|container| text(container, "name")).collect();
    for (index, container) in list(spec, "initContainers").iter().enumerate() {
        let path = all.index(index);
        check_container(container, around, &path, errors);
        check_restart(container, &path, errors);
        let name = text(container, "name");
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
        }
        check_host_ports(std::slice::from_ref(container), &all, errors);
        if text(container, "restartPolicy") == "Always" {
            check_handlers(container, around.grace, &path, errors);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if given(container, field).is_some() {
                let wrong = "may not be set for init containers without restartPolicy=Always";
                errors.push(FieldError::forbidden(&path.child(field), wrong));
            }
        }
    }
}

fn check_container(container: &Value, around: &Surroundings<'_>, path: &Path, errors: &mut Vec<FieldError>) {
    match text(container, "name") {
        "" => errors.push(FieldError::required(&path.child("name"), "")),
        name => names::check(names::dns_label, name, &path.child("name"), errors),
    }
    if text(container, "image").is_empty() {
        errors.push(FieldError::required(&path.child("image"), ""));
    }
    let policy = text(container, "terminationMessagePolicy");
    names::check_one_of(policy, &MESSAGE_POLICIES, &path.child("terminationMessagePolicy"), errors);
    check_ports(container, path, errors);
    check_env(container, path, errors);
    check_mounts(container, &around.volumes, path, errors);
    let policy = text(container, "imagePullPolicy");
    names::check_one_of(policy, &PULL_POLICIES, &path.child("imagePullPolicy"), errors);
    check_resources(container, path, &around.claims, errors);
    if let Some(context) = given(container, "securityContext") {
        check_context(context, around.own_users, &path.child("securityContext"), errors);
    }
}

fn check_restart(container: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("restartPolicy");
    match given(container, "restartPolicy").and_then(Value::as_str) {
        Some(policy) if !["Always", "Never", "OnFailure"].contains(&policy) => {
            errors.push(names::not_one_of(&path, policy, &["Always", "Never", "OnFailure"]));
        }
        None if !list(container, "restartPolicyRules").is_empty() => {
            errors
                .push(FieldError::required(&path, "must specify restartPolicy when restart rules are used"));
        }
        _ => {}
    }
}

fn check_ports(container: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let mut seen = HashSet::new();
    for (index, port) in list(container, "ports").iter().enumerate() {
        let path = path.child("ports").index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let wrong = names::port_name(name);
            if wrong.is_empty() && !seen.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), Some(name.into())));
            }
            errors.extend(wrong.into_iter().map(|text| FieldError::invalid(&path.child("name"), name, text)));
        }
        match number(port, "containerPort").unwrap_or(0) {
            0 => errors.push(FieldError::required(&path.child("containerPort"), "")),
            number => check_port_number(number, &path.child("containerPort"), errors),
        }
        match number(port, "hostPort").unwrap_or(0) {
            0 => {}
            number => check_port_number(number, &path.child("hostPort"), errors),
        }
        names::check_one_of(text(port, "protocol"), &PROTOCOLS, &path.child("protocol"), errors);
    }
}

fn check_port_number(port: i64, path: &Path, errors: &mut Vec<FieldError>) {
    errors.extend(names::port_number(port).into_iter().map(|wrong| FieldError::invalid(path, port, wrong)));
}

/// A port of the node can be taken once.
fn check_host_ports(containers: &[Value], path: &Path, errors: &mut Vec<FieldError>) {
    let mut taken: HashSet<String> = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let Some(number) = number(port, "hostPort").filter(|number| *number != 0) else { continue };
            let place = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if taken.contains(&place) {
                let path = path.index(index).child("ports").index(port_index).child("hostPort");
                errors.push(FieldError::duplicate(&path, Some(place.into())));
            } else {
                taken.insert(place);
            }
        }
    }
}

fn check_context(context: &Value, own_users: bool, path: &Path, errors: &mut Vec<FieldError>) {
    check_ids(context, &["runAsUser", "runAsGroup"], path, errors);
    check_proc_mount(context, own_users, path, errors);
    check_seccomp(context, path, errors);
    let no_escalation = given(context, "allowPrivilegeEscalation").and_then(Value::as_bool) == Some(false);
    if no_escalation && is_true(context, "privileged") {
        let wrong = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(FieldError::invalid_without_value(path, wrong));
    }
    check_app_armor(context, path, errors);
}

/// Checks user and group ids.
pub(super) fn check_ids(context: &Value, fields: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    for field in fields {
        let Some(id) = number(context, field) else { continue };
        let wrong = names::in_range(id, 0, MAX_ID);
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path.child(field), id, wrong)));
    }
}
