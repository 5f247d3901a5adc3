//! `DaemonSet`s.

use serde_json::{Value, json};

use super::controllers::{
    check_collisions, check_counts, check_lasting_template, check_same, default_counts, reset_status,
    shown_map, spec_path,
};
use super::fields::{at, fill, fill_text, given, inner, set, text};
use super::template::default_template;
use super::{rolling, selector};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// Where the generation of the template is kept since the API has no field for it any more.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
const ALWAYS_COUNTED: [&str; 4] =
    ["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"];
const COUNTS: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

/// What is particular to `DaemonSet`s.
#[derive(Debug)]
pub(super) struct DaemonSet;

impl Particular for DaemonSet {
    fn default(&self, object: &mut Value) {
        default_counts(object, &ALWAYS_COUNTED);
        // As a field it was always there, so whoever writes a `DaemonSet` owns it.
        fill(inner(inner(object, "metadata"), "annotations"), TEMPLATE_GENERATION, "0");
        let spec = inner(object, "spec");
        fill(spec, "revisionHistoryLimit", 10);
        let strategy = inner(spec, "updateStrategy");
        fill_text(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate" {
            let rolling = inner(strategy, "rollingUpdate");
            fill(rolling, "maxUnavailable", 1);
            fill(rolling, "maxSurge", 0);
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
        if part != Part::Whole {
            return Ok(());
        }
        let mut empty = json!({});
        for count in ALWAYS_COUNTED {
            set(&mut empty, count, 0);
        }
        reset_status(object, old, empty);
        let generation = match old {
            None => template_generation(object).max(1),
            Some(old) if at(old, "/spec/template") == at(object, "/spec/template") => {
                template_generation(old)
            }
            Some(old) => template_generation(old) + 1,
        };
        let annotations = inner(inner(object, "metadata"), "annotations");
        set(annotations, TEMPLATE_GENERATION, generation.to_string());
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        if part == Part::Status {
            check_counts(at(object, "/status"), &COUNTS, &Path::new("status"), &mut errors);
            let old = old.map_or(&Value::Null, |old| at(old, "/status"));
            check_collisions(at(object, "/status"), old, &mut errors);
            return errors;
        }
        if let Some(old) = old {
            check_same(spec, at(old, "/spec"), "selector", &path, &mut errors);
        }
        check_own_selector(spec, &path, &mut errors);
        check_lasting_template(spec, "DaemonSet", &path, &mut errors);
        check_counts(spec, &["minReadySeconds"], &path, &mut errors);
        check_strategy(at(spec, "/updateStrategy"), &path.child("updateStrategy"), &mut errors);
        check_counts(spec, &["revisionHistoryLimit"], &path, &mut errors);
        errors
    }
}

fn template_generation(object: &Value) -> i64 {
    let annotations = at(object, "/metadata/annotations");
    text(annotations, TEMPLATE_GENERATION).parse().unwrap_or(0)
}

/// Unlike those of others, a missing selector is said to match nothing, and an empty one everything.
fn check_own_selector(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let wish = given(spec, "selector");
    let path_of_selector = path.child("selector");
    if let Some(wish) = wish {
        selector::check(wish, &path_of_selector, errors);
    }
    let labels = at(spec, "/template/metadata/labels");
    let usable = wish.is_none_or(selector::is_usable);
    if usable && !wish.is_some_and(|wish| selector::matches(wish, labels)) {
        let path = path.child("template").child("metadata").child("labels");
        let wrong = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&path, shown_map(labels), wrong));
    }
    if let Some(wish) = wish.filter(|wish| selector::is_empty(wish)) {
        let wrong = "empty selector is invalid for daemonset";
        errors.push(FieldError::invalid(&path_of_selector, wish.clone(), wrong));
    }
}

fn check_strategy(strategy: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            check_rolling(at(strategy, "/rollingUpdate"), &path.child("rollingUpdate"), errors);
        }
        _ => {
            let allowed = ["RollingUpdate".to_owned(), "OnDelete".to_owned()];
            let wrong = FieldError::not_supported(path, strategy.clone(), &allowed);
            errors.push(wrong.showing(rolling::shown_strategy(strategy)));
        }
    }
}

fn check_rolling(update: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (unavailable, surge) = (at(update, "/maxUnavailable"), at(update, "/maxSurge"));
    let (path_of_unavailable, path_of_surge) = (path.child("maxUnavailable"), path.child("maxSurge"));
    rolling::check(unavailable, &path_of_unavailable, errors);
    rolling::check(surge, &path_of_surge, errors);
    rolling::check_at_most_all(unavailable, &path_of_unavailable, errors);
    rolling::check_at_most_all(surge, &path_of_surge, errors);
    match (rolling::amount(unavailable) != 0, rolling::amount(surge) != 0) {
        (true, true) => {
            let wrong = "may not be set when maxUnavailable is non-zero";
            errors.push(FieldError::invalid(&path_of_surge, surge.clone(), wrong));
        }
        (false, false) => {
            errors.push(FieldError::required(&path_of_unavailable, "cannot be 0 when maxSurge is 0"));
        }
        _ => {}
    }
}
