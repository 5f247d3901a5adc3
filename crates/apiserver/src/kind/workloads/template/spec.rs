//! The spec of a Pod as a whole, and the template around it.

use serde_json::Value;

use super::super::fields::{at, given, is_true, list, number, text};
use super::super::{names, selector};
use super::affinity::{check_placement, check_spread};
use super::claims::check_claims;
use super::containers::{Surroundings, check_containers, check_ids, check_init_containers};
use super::security::{check_pod_context, check_users, has_own_users};
use super::system::check_system;
use super::tolerations::check_tolerations;
use super::volumes::check_volumes;
use crate::schema::{FieldError, Path};

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/// What a spec is the spec of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Within {
    /// A Pod.
    Pod,
    /// A template of Pods.
    Template,
}

/// Checks a template of Pods.
pub(in super::super) fn check_template(template: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let metadata = at(template, "/metadata");
    selector::check_labels(metadata, "labels", &path.child("labels"), errors);
    let path = path.child("spec");
    check_spec(at(template, "/spec"), Within::Template, &path, errors);
    if !list(at(template, "/spec"), "ephemeralContainers").is_empty() {
        let wrong = "ephemeral containers not allowed in pod template";
        errors.push(FieldError::forbidden(&path.child("ephemeralContainers"), wrong));
    }
}

/// Checks the spec of a Pod.
pub(in super::super) fn check_spec(spec: &Value, within: Within, path: &Path, errors: &mut Vec<FieldError>) {
    let volumes = check_volumes(spec, path, errors);
    check_claims(spec, path, errors);
    let claims = list(spec, "resourceClaims").iter().map(|claim| text(claim, "name")).collect();
    let grace = number(spec, "terminationGracePeriodSeconds");
    let around = Surroundings { volumes, claims, grace, own_users: has_own_users(spec) };
    check_containers(spec, &around, path, errors);
    check_init_containers(spec, &around, path, errors);
    check_host_network(spec, within, path, errors);
    names::check_one_of(text(spec, "restartPolicy"), &RESTART_POLICIES, &path.child("restartPolicy"), errors);
    names::check_one_of(text(spec, "dnsPolicy"), &DNS_POLICIES, &path.child("dnsPolicy"), errors);
    selector::check_labels(spec, "nodeSelector", &path.child("nodeSelector"), errors);
    check_context(spec, path, errors);
    check_placement(spec, path, errors);
    check_dns(spec, path, errors);
    check_spread(spec, path, errors);
    check_users(spec, path, errors);
    check_names(spec, path, errors);
    if let Some(seconds) = number(spec, "activeDeadlineSeconds") {
        let wrong = names::in_range(seconds, 1, i64::from(i32::MAX));
        let path = path.child("activeDeadlineSeconds");
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path, seconds, wrong)));
    }
    for field in ["hostname", "subdomain"] {
        match text(spec, field) {
            "" => {}
            name => names::check(names::dns_label, name, &path.child(field), errors),
        }
    }
    check_tolerations(list(spec, "tolerations"), &path.child("tolerations"), errors);
    check_policies(spec, path, errors);
    check_system(spec, path, errors);
}

/// On the node's own network a container's port is the node's.
fn check_host_network(spec: &Value, within: Within, path: &Path, errors: &mut Vec<FieldError>) {
    if !is_true(spec, "hostNetwork") {
        return;
    }
    for (index, container) in list(spec, "containers").iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let host = number(port, "hostPort").unwrap_or(0);
            let same = host == number(port, "containerPort").unwrap_or(0);
            if !same && (within == Within::Pod || host != 0) {
                let path = path.child("containers").index(index).child("ports").index(port_index);
                let wrong = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(&path.child("hostPort"), host, wrong));
            }
        }
    }
}

fn check_context(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (context, path) = (at(spec, "/securityContext"), path.child("securityContext"));
    check_ids(context, &["fsGroup", "runAsUser", "runAsGroup"], &path, errors);
    for (index, group) in list(context, "supplementalGroups").iter().enumerate() {
        let group = group.as_i64().unwrap_or(0);
        let wrong = names::in_range(group, 0, i64::from(i32::MAX));
        let path = path.child("supplementalGroups").index(index);
        errors.extend(wrong.into_iter().map(|wrong| FieldError::invalid(&path, group, wrong)));
    }
    check_pod_context(spec, context, &path, errors);
}

fn check_dns(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("dnsConfig");
    if text(spec, "dnsPolicy") != "None" {
        return;
    }
    match given(spec, "dnsConfig") {
        None => {
            let wrong = "must provide `dnsConfig` when `dnsPolicy` is None";
            errors.push(FieldError::required(&path, wrong));
        }
        Some(config) if list(config, "nameservers").is_empty() => {
            let wrong = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(FieldError::required(&path.child("nameservers"), wrong));
        }
        Some(_) => {}
    }
}

/// The names of other objects.
fn check_names(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for field in ["serviceAccountName", "nodeName"] {
        match text(spec, field) {
            "" => {}
            name => names::check(names::dns_subdomain, name, &path.child(field), errors),
        }
    }
}

fn check_policies(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for field in ["priorityClassName", "runtimeClassName"] {
        match text(spec, field) {
            "" => {}
            name => names::check(names::dns_subdomain, name, &path.child(field), errors),
        }
    }
    let known = ["PreemptLowerPriority", "Never"];
    match text(spec, "preemptionPolicy") {
        policy if policy.is_empty() || known.contains(&policy) => {}
        policy => errors.push(names::not_one_of(&path.child("preemptionPolicy"), policy, &known)),
    }
}
