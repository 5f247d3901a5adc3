//! `StatefulSet`s.

use serde_json::{Value, json};

use super::claim;
use super::controllers::{
    check_always_runs, check_counts, check_match, check_selector, check_status, default_counts, reset_status,
    spec_path,
};
use super::fields::{at, each, fill, fill_text, given, inner, list, number, set, shown, text, unset};
use super::template::{check_template, default_template};
use super::{names, rolling};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path, go_json};

/// What may change; everything else may not.
const MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];
const OTHER_CHANGES: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
     'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const COUNTS: [&str; 7] = [
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
];

/// What is particular to `StatefulSet`s.
#[derive(Debug)]
pub(super) struct StatefulSet;

impl Particular for StatefulSet {
    fn default(&self, object: &mut Value) {
        default_counts(object, &["replicas", "availableReplicas"]);
        let spec = inner(object, "spec");
        fill_text(spec, "podManagementPolicy", "OrderedReady");
        fill(spec, "serviceName", "");
        let strategy = inner(spec, "updateStrategy");
        if text(strategy, "type").is_empty() {
            set(strategy, "type", "RollingUpdate");
            inner(strategy, "rollingUpdate");
        }
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = strategy.get_mut("rollingUpdate")
        {
            fill(rolling, "partition", 0);
        }
        let retention = inner(spec, "persistentVolumeClaimRetentionPolicy");
        fill_text(retention, "whenDeleted", "Retain");
        fill_text(retention, "whenScaled", "Retain");
        fill(spec, "replicas", 1);
        fill(spec, "revisionHistoryLimit", 10);
        default_template(inner(spec, "template"));
        each(spec, "volumeClaimTemplates", |template| {
            fill(template, "apiVersion", "v1");
            fill(template, "kind", "PersistentVolumeClaim");
            claim::default_object(template);
        });
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        if part == Part::Whole {
            reset_status(object, old, json!({"replicas": 0, "availableReplicas": 0}));
            drop_max_unavailable(object, old);
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return check_status(object, old, &COUNTS, "status.readyReplicas");
        }
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        check_spec(spec, old.is_some(), &path, &mut errors);
        if let Some(old) = old
            && without(spec, &MUTABLE) != without(at(old, "/spec"), &MUTABLE)
        {
            errors.push(FieldError::forbidden(&path, OTHER_CHANGES));
        }
        errors
    }

    fn warnings(&self, object: &Value, _: Option<&Value>) -> Vec<String> {
        let limit = number(at(object, "/spec"), "revisionHistoryLimit");
        let negative = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";
        limit.filter(|limit| *limit < 0).map(|_| negative.to_owned()).into_iter().collect()
    }
}

/// How many Pods may be unavailable is not looked at by default: it is not taken up.
fn drop_max_unavailable(object: &mut Value, old: Option<&Value>) {
    let pointer = "/spec/updateStrategy/rollingUpdate";
    let had_it = old.is_some_and(|old| at(old, pointer).get("maxUnavailable").is_some());
    if let (false, Some(update)) = (had_it, object.pointer_mut(pointer)) {
        unset(update, "maxUnavailable");
    }
}

fn without(spec: &Value, fields: &[&str]) -> Value {
    let mut rest = spec.clone();
    for field in fields {
        unset(&mut rest, field);
    }
    rest
}

fn check_spec(spec: &Value, is_update: bool, path: &Path, errors: &mut Vec<FieldError>) {
    let policy = text(spec, "podManagementPolicy");
    if !["OrderedReady", "Parallel"].contains(&policy) {
        let wrong = "must be 'OrderedReady' or 'Parallel'";
        errors.push(FieldError::invalid(&path.child("podManagementPolicy"), policy, wrong));
    }
    check_strategy(at(spec, "/updateStrategy"), &path.child("updateStrategy"), errors);
    for field in ["whenDeleted", "whenScaled"] {
        let path = path.child("persistentVolumeClaimRetentionPolicy").child(field);
        let policy = text(at(spec, "/persistentVolumeClaimRetentionPolicy"), field);
        if !["Retain", "Delete"].contains(&policy) {
            errors.push(names::not_one_of(&path, policy, &["Retain", "Delete"]));
        }
    }
    if !is_update {
        for (index, template) in list(spec, "volumeClaimTemplates").iter().enumerate() {
            let path = path.child("volumeClaimTemplates").index(index).child("spec");
            claim::check_spec(at(template, "/spec"), &path, errors);
        }
    }
    check_counts(spec, &["replicas", "minReadySeconds"], path, errors);
    let start = number(at(spec, "/ordinals"), "start");
    names::check_not_negative(start, &path.child("ordinals.start"), errors);
    if !is_update && !text(spec, "serviceName").is_empty() {
        names::check(names::dns_label, text(spec, "serviceName"), &path.child("serviceName"), errors);
    }
    let path_of_template = path.child("template");
    if check_selector(spec, "statefulset", path, errors) {
        check_match(spec, path, errors);
        check_template(&as_it_will_be(spec), &path_of_template, errors);
    } else {
        errors.push(FieldError::invalid(&path.child("selector"), at(spec, "/selector").clone(), ""));
    }
    check_always_runs(spec, "StatefulSet", &path_of_template, errors);
}

fn shown_update(update: &Value) -> String {
    shown(update, &[("partition", 0.into()), ("maxUnavailable", Value::Null)])
}

fn check_strategy(strategy: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path_of_update = path.child("rollingUpdate");
    match (text(strategy, "type"), given(strategy, "rollingUpdate")) {
        ("OnDelete" | "RollingUpdate", None) => {}
        ("OnDelete", Some(update)) => {
            let wrong = "only allowed for updateStrategy 'RollingUpdate'";
            let wrong = FieldError::invalid_without_value(&path_of_update, wrong);
            errors.push(wrong.showing(shown_update(update)));
        }
        ("RollingUpdate", Some(update)) => {
            check_counts(update, &["partition"], &path_of_update, errors);
            if let Some(unavailable) = given(update, "maxUnavailable") {
                let path = path_of_update.child("maxUnavailable");
                rolling::check(unavailable, &path, errors);
                if rolling::amount(unavailable) == 0 {
                    errors.push(FieldError::invalid(&path, unavailable.clone(), "cannot be 0"));
                }
                rolling::check_at_most_all(unavailable, &path, errors);
            }
        }
        _ => {
            let wrong = "must be 'RollingUpdate' or 'OnDelete'";
            let update = given(strategy, "rollingUpdate").map_or_else(|| "null".to_owned(), shown_update);
            let kind = go_json(at(strategy, "/type"));
            let wrong = FieldError::invalid_without_value(path, wrong);
            errors.push(wrong.showing(format!("{{\"Type\":{kind},\"RollingUpdate\":{update}}}")));
        }
    }
}

/// The template as its Pods will be: with the volumes of the claims first, and with names of the controller's.
fn as_it_will_be(spec: &Value) -> Value {
    let mut template = at(spec, "/template").clone();
    let claims: Vec<&str> = list(spec, "volumeClaimTemplates")
        .iter()
        .map(|template| text(at(template, "/metadata"), "name"))
        .collect();
    let pod = inner(&mut template, "spec");
    unset(pod, "hostname");
    unset(pod, "subdomain");
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
        .collect();
    let own = list(pod, "volumes").iter().filter(|volume| !claims.contains(&text(volume, "name")));
    volumes.extend(own.cloned());
    set(pod, "volumes", volumes);
    template
}
