//! Who the processes of a Pod are and what they may: profiles, kernel parameters, user namespaces.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::super::fields::{given, is_true, list, shown, text};
use super::super::names;
use crate::schema::{FieldError, Path};

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
const PROC_MOUNTS: [&str; 2] = ["Default", "Unmasked"];
/// Longest name of a profile of `AppArmor`, in bytes: that of a path.
const MAX_PROFILE: i64 = 4095;
/// Longest name of a kernel parameter, in characters.
const MAX_SYSCTL: usize = 253;
const SYSCTL: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
/// Kernel parameters that each namespace for communication between processes has for itself, besides those of message queues.
const OF_IPC: [&str; 10] = [
    "kernel.msg",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.sem",
    "kernel.shm",
    "kernel.shm_rmid_forced",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
];
/// Fields of a Pod's security context that are one of a few words.
const POLICIES: [(&str, &[&str]); 3] = [
    ("fsGroupChangePolicy", &["Always", "OnRootMismatch"]),
    ("supplementalGroupsPolicy", &["Merge", "Strict"]),
    ("seLinuxChangePolicy", &["Recursive"]),
];

/// Checks what of a Pod's security context is not a number.
pub(super) fn check_pod_context(spec: &Value, context: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if is_true(spec, "hostPID") && is_true(spec, "shareProcessNamespace") {
        let wrong = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid(&path.child("shareProcessNamespace"), true, wrong));
    }
    check_sysctls(spec, context, &path.child("sysctls"), errors);
    for (field, allowed) in POLICIES {
        if let Some(policy) = given(context, field).and_then(Value::as_str)
            && !allowed.contains(&policy)
        {
            errors.push(names::not_one_of(&path.child(field), policy, allowed));
        }
    }
    check_seccomp(context, path, errors);
    check_app_armor(context, path, errors);
}

/// Checks the profile for system calls.
pub(super) fn check_seccomp(context: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(profile) = given(context, "seccompProfile") else { return };
    let path = path.child("seccompProfile");
    check_profile_type(profile, "seccompProfile", &path, errors);
    let (file, path) = (given(profile, "localhostProfile"), path.child("localhostProfile"));
    match (text(profile, "type") == "Localhost", file.and_then(Value::as_str)) {
        (true, None) => {
            errors.push(FieldError::required(&path, "must be set when seccomp type is Localhost"));
        }
        (true, Some(file)) => names::check_path_down(file, &path, errors),
        (false, Some(_)) => {
            let fields = [("type", json!("")), ("localhostProfile", Value::Null)];
            let wrong = "can only be set when seccomp type is Localhost";
            errors.push(FieldError::invalid_shown(&path, profile.clone(), shown(profile, &fields), wrong));
        }
        (false, None) => {}
    }
}

/// Checks the profile for files and rights.
pub(super) fn check_app_armor(context: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(profile) = given(context, "appArmorProfile") else { return };
    let path = path.child("appArmorProfile");
    check_profile_type(profile, "appArmorProfile", &path, errors);
    let (name, path) = (given(profile, "localhostProfile"), path.child("localhostProfile"));
    match (text(profile, "type") == "Localhost", name.and_then(Value::as_str)) {
        (true, None) => {
            errors.push(FieldError::required(&path, "must be set when AppArmor type is Localhost"));
        }
        (true, Some(name)) if name.trim() != name => {
            errors.push(FieldError::invalid(&path, name, "must not be padded with whitespace"));
        }
        (true, Some(name)) if names::is_more(name.len(), MAX_PROFILE) => {
            errors.push(FieldError::too_long(&path, MAX_PROFILE));
        }
        (false, Some(name)) => {
            errors.push(FieldError::invalid(&path, name, "can only be set when AppArmor type is Localhost"));
        }
        _ => {}
    }
}

fn check_profile_type(profile: &Value, field: &str, path: &Path, errors: &mut Vec<FieldError>) {
    match text(profile, "type") {
        "" => {
            let wrong = format!("type is required when {field} is set");
            errors.push(FieldError::required(&path.child("type"), wrong));
        }
        kind if PROFILES.contains(&kind) => {}
        kind => errors.push(names::not_one_of(&path.child("type"), kind, &PROFILES)),
    }
}

/// Checks what a container sees of `/proc`; all of it only where its users are not those of the node.
pub(super) fn check_proc_mount(context: &Value, own_users: bool, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(mount) = given(context, "procMount").and_then(Value::as_str) else { return };
    let path = path.child("procMount");
    if !PROC_MOUNTS.contains(&mount) {
        errors.push(names::not_one_of(&path, mount, &PROC_MOUNTS));
    } else if mount == "Unmasked" && !own_users {
        errors.push(FieldError::invalid(&path, mount, "`hostUsers` must be false to use `Unmasked`"));
    }
}

/// Whether the users of a Pod are other than those of the node.
pub(super) fn has_own_users(spec: &Value) -> bool {
    given(spec, "hostUsers").and_then(Value::as_bool) == Some(false)
}

/// With users of its own a Pod has nothing else of the node.
pub(super) fn check_users(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if !has_own_users(spec) {
        return;
    }
    let wrong = "when `hostUsers` is false";
    // The server spells two of them as its types do.
    for (field, said) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if is_true(spec, field) {
            errors.push(FieldError::forbidden(&path.child(said), wrong));
        }
    }
    for containers in ["containers", "initContainers"] {
        for (index, container) in list(spec, containers).iter().enumerate() {
            if !list(container, "volumeDevices").is_empty() {
                let path = path.child(containers).index(index).child("volumeDevices");
                errors.push(FieldError::forbidden(&path, wrong));
            }
        }
    }
}

fn check_sysctls(spec: &Value, context: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SYSCTL).ok());
    let is_name =
        |name: &str| name.len() <= MAX_SYSCTL && NAME.as_ref().is_none_or(|pattern| pattern.is_match(name));
    let mut seen = HashSet::new();
    for (index, one) in list(context, "sysctls").iter().enumerate() {
        let (name, path) = (text(one, "name"), path.index(index).child("name"));
        let is_first = seen.insert(name);
        if name.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if !is_name(name) {
            let wrong = format!("must have at most {MAX_SYSCTL} characters and match regex {SYSCTL}");
            errors.push(FieldError::invalid(&path, name, wrong));
        } else if !is_first {
            errors.push(FieldError::duplicate(&path, Some(name.into())));
        }
        for (field, is_of) in [("hostNetwork", is_of_network as fn(&str) -> bool), ("hostIPC", is_of_ipc)] {
            if is_true(spec, field) && is_of(&with_dots(name)) {
                let wrong = format!("may not be specified when '{field}' is true");
                errors.push(FieldError::invalid(&path, name, wrong));
            }
        }
    }
}

fn is_of_network(name: &str) -> bool {
    name.starts_with("net.")
}

fn is_of_ipc(name: &str) -> bool {
    name.starts_with("fs.mqueue.") || OF_IPC.contains(&name)
}

/// `a/b.c` is another way to write `a.b/c`: the first that separates tells which is meant.
fn with_dots(name: &str) -> String {
    let swap = |c| match c {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    match name.find(['.', '/']) {
        Some(first) if name[first..].starts_with('/') => name.chars().map(swap).collect(),
        _ => name.to_owned(),
    }
}
