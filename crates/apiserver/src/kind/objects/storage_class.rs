//! `StorageClass`: what it says of volumes does not change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields::{check_choice, check_form, check_unchanged, entries, fill, list, text, texts};
use crate::kind::Particular;
use crate::kind::metadata::label_key;
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// How many parameters there may be, and how large they may be together: the limits of the API.
const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;

/// Labels of nodes that should not be used any more, and what to use instead.
const DEPRECATED: [(&str, &str); 8] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

/// What is particular to `StorageClass`.
#[derive(Debug)]
pub(super) struct StorageClass;

impl Particular for StorageClass {
    fn default(&self, object: &mut Value) {
        if let Some(fields) = object.as_object_mut() {
            fill(fields, "reclaimPolicy", "Delete");
            fill(fields, "volumeBindingMode", "Immediate");
        }
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = Path::new("provisioner");
        match text(object, "/provisioner").to_lowercase().as_str() {
            "" => errors.push(FieldError::required(&path, "")),
            name => check_form(&path, name, label_key(name), &mut errors),
        }
        check_parameters(object, &mut errors);
        let policy = text(object, "/reclaimPolicy");
        if !policy.is_empty() {
            check_choice(&Path::new("reclaimPolicy"), policy, &["Delete", "Retain"], &mut errors);
        }
        let mode = text(object, "/volumeBindingMode");
        let modes = ["Immediate", "WaitForFirstConsumer"];
        check_choice(&Path::new("volumeBindingMode"), mode, &modes, &mut errors);
        check_topologies(list(object, "/allowedTopologies"), &mut errors);
        if let Some(old) = old {
            for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
                check_unchanged(object, old, field, &mut errors);
            }
        }
        errors
    }

    fn warnings(&self, object: &Value, _: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (index, term) in list(object, "/allowedTopologies").iter().enumerate() {
            for (at, wish) in list(term, "/matchLabelExpressions").iter().enumerate() {
                let known = DEPRECATED.iter().find(|(label, _)| *label == text(wish, "/key"));
                let path = Path::new("allowedTopologies").index(index).child("matchLabelExpressions");
                warnings
                    .extend(known.map(|(_, advice)| format!("{}: {advice}", path.index(at).child("key"))));
            }
        }
        warnings
    }
}

fn check_parameters(object: &Value, errors: &mut Vec<FieldError>) {
    let path = Path::new("parameters");
    if entries(object, "/parameters").count() > MAX_PARAMETERS {
        errors.push(FieldError::too_long(&path, 512));
        return;
    }
    let mut size = 0;
    for (key, value) in entries(object, "/parameters") {
        if key.is_empty() {
            errors.push(FieldError::invalid(&path, key, "field can not be empty."));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_PARAMETERS_SIZE {
        errors.push(FieldError::too_long(&path, 256 * 1024));
    }
}

fn check_topologies(terms: &[Value], errors: &mut Vec<FieldError>) {
    let mut known: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        let path = Path::new("allowedTopologies").index(index).child("matchLabelExpressions");
        let mut wishes = BTreeMap::new();
        for (index, wish) in list(term, "/matchLabelExpressions").iter().enumerate() {
            let path = path.index(index);
            let values = list(wish, "/values");
            if values.is_empty() {
                errors.push(FieldError::required(&path.child("values"), ""));
            }
            let mut set = BTreeSet::new();
            for (index, value) in texts(values).enumerate() {
                if !set.insert(value) {
                    let path = path.child("values").index(index);
                    errors.push(FieldError::duplicate(&path, Some(value.into())));
                }
            }
            let key = text(wish, "/key");
            check_form(&path.child("key"), key, label_key(key), errors);
            if wishes.insert(key, set).is_some() {
                errors.push(FieldError::duplicate(&path.child("key"), Some(key.into())));
            }
        }
        // The server compares a term that asks for nothing with the empty places of terms still to come.
        let twice = known.iter().filter(|other| **other == wishes).count();
        let empty = if wishes.is_empty() { terms.len() } else { 0 };
        for _ in 0..twice + empty {
            errors.push(FieldError::duplicate(&path, Some("".into())));
        }
        known.push(wishes);
    }
}
