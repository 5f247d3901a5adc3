//! Pods.

use serde_json::{Value, json};

use super::fields::{at, each, fill, given, inner, is_true, list, number, set, text};
use super::pod_admission::{default_tolerations, priority, quality, same_priority};
use super::pod_update::{check_changes, check_status, keep_from_status_writes};
use super::runtime_class::{check_overhead, runtime_class};
use super::template::{Within, check_spec, default_spec};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// What is particular to Pods.
#[derive(Debug)]
pub(super) struct Pod;

impl Particular for Pod {
    fn default(&self, object: &mut Value) {
        inner(object, "status");
        let spec = inner(object, "spec");
        fill(spec, "enableServiceLinks", true);
        let on_host = is_true(spec, "hostNetwork");
        for containers in ["containers", "initContainers"] {
            each(spec, containers, |container| {
                ask_for_limits(container);
                if on_host {
                    each(container, "ports", take_host_port);
                }
            });
        }
        default_spec(spec);
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        match (part, old) {
            (Part::Status, Some(old)) => keep_from_status_writes(object, old),
            (Part::Whole, Some(old)) => {
                default_tolerations(inner(object, "spec"));
                same_priority(inner(object, "spec"), at(old, "/spec"));
                set(object, "status", at(old, "/status").clone());
            }
            (_, None) => {
                default_tolerations(inner(object, "spec"));
                priority(object, around)?;
                runtime_class(object, around)?;
                let mut status = json!({"phase": "Pending", "qosClass": quality(at(object, "/spec"))});
                if !list(at(object, "/spec"), "schedulingGates").is_empty() {
                    set(&mut status, "conditions", json!([gated(&around.now())]));
                }
                set(object, "status", status);
                // What is wrong in itself is said first.
                if let Err(refusal) = check_overhead(object)
                    && self.check(object, None, part).is_empty()
                {
                    return Err(refusal);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if let (Part::Status, Some(old)) = (part, old) {
            return check_status(object, old);
        }
        let (spec, path) = (at(object, "/spec"), Path::new("spec"));
        let mut errors = Vec::new();
        check_spec(spec, Within::Pod, &path, &mut errors);
        check_images(spec, &path, &mut errors);
        match old {
            Some(old) => check_changes(spec, at(old, "/spec"), &path, &mut errors),
            None => check_new(spec, &path, &mut errors),
        }
        errors
    }

    fn grace(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        // An end that has been set comes nearer only if someone says so.
        if let Some(left) = metadata::grace(object) {
            return Some(asked.unwrap_or(left));
        }
        let spec = at(object, "/spec");
        let grace = asked.or_else(|| number(spec, "terminationGracePeriodSeconds")).unwrap_or(0);
        let is_over = matches!(text(at(object, "/status"), "phase"), "Failed" | "Succeeded");
        let at_once = is_over || text(spec, "nodeName").is_empty();
        Some(match grace {
            _ if at_once => 0,
            grace if grace < 0 => 1,
            grace => grace,
        })
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let wrong = super::names::dns_label(metadata::text(object, "name"));
        if old.is_some() || wrong.is_empty() {
            return Vec::new();
        }
        let about = "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is \
             recommended";
        vec![format!("{about}: [{}]", wrong.join(" "))]
    }
}

/// What a container may use at most is what it asks for, unless it asks for something else.
fn ask_for_limits(container: &mut Value) {
    let limits = at(container, "/resources/limits").clone();
    if let Value::Object(limits) = limits {
        let requests = inner(inner(container, "resources"), "requests");
        for (name, limit) in limits {
            fill(requests, &name, limit);
        }
    }
}

fn take_host_port(port: &mut Value) {
    if let (None | Some(0), Some(own)) = (number(port, "hostPort"), number(port, "containerPort")) {
        set(port, "hostPort", own);
    }
}

fn gated(now: &str) -> Value {
    json!({
        "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates", "lastProbeTime": null,
        "lastTransitionTime": now,
    })
}

fn check_images(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for containers in ["containers", "initContainers"] {
        for (index, container) in list(spec, containers).iter().enumerate() {
            let image = text(container, "image");
            if image.trim() != image {
                let path = path.child(containers).index(index).child("image");
                let wrong = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(&path, image, wrong));
            }
        }
    }
    if text(spec, "serviceAccountName").is_empty() {
        check_no_tokens(spec, path, errors);
    }
}

fn check_no_tokens(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    for (index, volume) in list(spec, "volumes").iter().enumerate() {
        for (part_index, part) in list(at(volume, "/projected"), "sources").iter().enumerate() {
            if given(part, "serviceAccountToken").is_some() {
                let path = path.child("volumes").index(index).child("projected").child("sources");
                let path = path.index(part_index).child("serviceAccountToken");
                let wrong = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(&path, wrong));
            }
        }
    }
}

fn check_new(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    if !list(spec, "ephemeralContainers").is_empty() {
        errors.push(FieldError::forbidden(&path.child("ephemeralContainers"), "cannot be set on create"));
    }
    if !text(spec, "nodeName").is_empty() && !list(spec, "schedulingGates").is_empty() {
        let wrong = "cannot be set until all schedulingGates have been cleared";
        errors.push(FieldError::forbidden(&path.child("nodeName"), wrong));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_on_a_node_lives_on_for_its_grace() {
        let on_node = json!({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}});
        assert_eq!(Pod.grace(&on_node, None), Some(30));
        assert_eq!(Pod.grace(&on_node, Some(5)), Some(5));
        assert_eq!(Pod.grace(&on_node, Some(0)), Some(0));
        assert_eq!(Pod.grace(&on_node, Some(-1)), Some(1));
        let mut over = on_node.clone();
        over["status"] = json!({"phase": "Succeeded"});
        assert_eq!(Pod.grace(&over, None), Some(0));
        assert_eq!(Pod.grace(&json!({"spec": {"terminationGracePeriodSeconds": 30}}), None), Some(0));
    }
}
