//! Deployments.

use serde_json::{Value, json};

use super::controllers::{
    check_counts, check_lasting_template, check_match, check_same, check_selector, check_status,
    reset_status, spec_path,
};
use super::fields::{at, fill, fill_text, given, inner, number, text};
use super::template::default_template;
use super::{names, rolling};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// Seconds without progress after which a rollout has failed.
const PROGRESS_DEADLINE: i64 = 600;
const COUNTS: [&str; 8] = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
];

/// What is particular to Deployments.
#[derive(Debug)]
pub(super) struct Deployment;

impl Particular for Deployment {
    fn default(&self, object: &mut Value) {
        inner(object, "status");
        let spec = inner(object, "spec");
        fill(spec, "replicas", 1);
        fill(spec, "revisionHistoryLimit", 10);
        fill(spec, "progressDeadlineSeconds", PROGRESS_DEADLINE);
        let strategy = inner(spec, "strategy");
        fill_text(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate" {
            let rolling = inner(strategy, "rollingUpdate");
            fill(rolling, "maxUnavailable", "25%");
            fill(rolling, "maxSurge", "25%");
        }
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
            reset_status(object, old, json!({}));
        }
        if let (Part::Status, Some(old)) = (part, old) {
            metadata::keep(object, old, &["labels"]);
        }
        if let (Part::Whole, Some(old)) = (part, old) {
            // Annotations go on to ReplicaSets: they are wishes too.
            let annotations = |object| at(object, "/metadata/annotations").clone();
            if annotations(object) != annotations(old) {
                let next = metadata::generation(old) + 1;
                metadata::set(object, "generation", Some(next.into()));
            }
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return check_status(object, old, &COUNTS, "readyReplicas");
        }
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        check_counts(spec, &["replicas"], &path, &mut errors);
        if check_selector(spec, "deployment", &path, &mut errors) {
            check_match(spec, &path, &mut errors);
            check_lasting_template(spec, "ReplicaSet", &path, &mut errors);
        } else {
            let wrong = "invalid label selector";
            errors.push(FieldError::invalid(&path.child("selector"), at(spec, "/selector").clone(), wrong));
        }
        check_strategy(at(spec, "/strategy"), &path.child("strategy"), &mut errors);
        check_counts(spec, &["minReadySeconds", "revisionHistoryLimit"], &path, &mut errors);
        check_deadline(spec, &path, &mut errors);
        if let Some(old) = old {
            check_same(spec, at(old, "/spec"), "selector", &path, &mut errors);
        }
        errors
    }
}

fn check_deadline(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("progressDeadlineSeconds");
    let Some(deadline) = number(spec, "progressDeadlineSeconds") else { return };
    names::check_not_negative(Some(deadline), &path, errors);
    if deadline <= number(spec, "minReadySeconds").unwrap_or(0) {
        errors.push(FieldError::invalid(&path, deadline, "must be greater than minReadySeconds"));
    }
}

fn check_strategy(strategy: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path_of_update = path.child("rollingUpdate");
    match text(strategy, "type") {
        "Recreate" => {
            if given(strategy, "rollingUpdate").is_some() {
                let wrong = "may not be specified when strategy `type` is 'Recreate'";
                errors.push(FieldError::forbidden(&path_of_update, wrong));
            }
        }
        "RollingUpdate" => {
            let update = at(strategy, "/rollingUpdate");
            let (unavailable, surge) = (at(update, "/maxUnavailable"), at(update, "/maxSurge"));
            let path_of_unavailable = path_of_update.child("maxUnavailable");
            rolling::check(unavailable, &path_of_unavailable, errors);
            rolling::check(surge, &path_of_update.child("maxSurge"), errors);
            if rolling::amount(unavailable) == 0 && rolling::amount(surge) == 0 {
                let wrong = "may not be 0 when `maxSurge` is 0";
                errors.push(FieldError::invalid(&path_of_unavailable, unavailable.clone(), wrong));
            }
            rolling::check_at_most_all(unavailable, &path_of_unavailable, errors);
        }
        _ => {
            let allowed = ["Recreate".to_owned(), "RollingUpdate".to_owned()];
            let wrong = FieldError::not_supported(path, strategy.clone(), &allowed);
            errors.push(wrong.showing(rolling::shown_strategy(strategy)));
        }
    }
}
