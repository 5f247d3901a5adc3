//! `ReplicaSet`s.

use serde_json::{Value, json};

use super::controllers::{
    check_counts, check_lasting_template, check_match, check_same, check_selector, check_status,
    default_counts, reset_status, spec_path,
};
use super::fields::{at, fill, inner};
use super::template::default_template;
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::FieldError;

const COUNTS: [&str; 6] = [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
];

/// What is particular to `ReplicaSet`s.
#[derive(Debug)]
pub(super) struct ReplicaSet;

impl Particular for ReplicaSet {
    fn default(&self, object: &mut Value) {
        default_counts(object, &["replicas"]);
        let spec = inner(object, "spec");
        fill(spec, "replicas", 1);
        default_template(inner(spec, "template"));
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        if part == Part::Whole {
            reset_status(object, old, json!({"replicas": 0}));
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return check_status(object, None, &COUNTS, "readyReplicas");
        }
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        check_counts(spec, &["replicas", "minReadySeconds"], &path, &mut errors);
        // Yes, of a deployment.
        if check_selector(spec, "deployment", &path, &mut errors) {
            check_match(spec, &path, &mut errors);
            check_lasting_template(spec, "ReplicaSet", &path, &mut errors);
        } else {
            let wrong = "invalid label selector";
            errors.push(FieldError::invalid(&path.child("selector"), at(spec, "/selector").clone(), wrong));
        }
        if let Some(old) = old {
            check_same(spec, at(old, "/spec"), "selector", &path, &mut errors);
        }
        errors
    }
}
