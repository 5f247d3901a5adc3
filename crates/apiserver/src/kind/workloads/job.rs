//! Jobs.

use serde_json::{Value, json};

use super::controllers::{check_counts, reset_status, spec_path};
use super::fields::{at, each, entries, fill, fill_text, given, inner, is_true, number, set, text, with};
use super::job_policies::{check_failures, check_manager, check_success};
use super::job_update::check_changes;
use super::template::{check_template, default_template};
use super::{names, selector};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// The labels by which a Job knows its Pods, before and since they have a prefix.
const NAMES: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const UIDS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
/// Retries before a Job has failed.
const BACKOFF_LIMIT: i64 = 6;
/// At most this many Pods of an indexed Job run at once.
const MAX_PARALLEL_INDEXES: i64 = 100_000;

/// What is particular to Jobs.
#[derive(Debug)]
pub(super) struct Job;

impl Particular for Job {
    fn default(&self, object: &mut Value) {
        inner(object, "status");
        let labels = at(object, "/spec/template/metadata/labels").clone();
        let own = inner(object, "metadata");
        if labels.is_object() && entries(own, "labels").next().is_none() {
            set(own, "labels", labels);
        }
        let spec = inner(object, "spec");
        if given(spec, "completions").is_none() && given(spec, "parallelism").is_none() {
            fill(spec, "completions", 1);
        }
        fill(spec, "parallelism", 1);
        let per_index = given(spec, "backoffLimitPerIndex").is_some();
        fill(spec, "backoffLimit", if per_index { i64::from(i32::MAX) } else { BACKOFF_LIMIT });
        fill(spec, "completionMode", "NonIndexed");
        fill(spec, "suspend", false);
        let failures = given(spec, "podFailurePolicy").is_some();
        fill(spec, "podReplacementPolicy", if failures { "Failed" } else { "TerminatingOrFailed" });
        fill(spec, "manualSelector", false);
        default_shared(spec);
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
        reset_status(object, old, json!({}));
        if old.is_none() && !is_true(at(object, "/spec"), "manualSelector") {
            let (name, uid) =
                (metadata::text(object, "name").to_owned(), metadata::text(object, "uid").to_owned());
            generate_selector(inner(object, "spec"), &name, &uid);
        }
        Ok(())
    }

    /// A Job of which no labels were said has those of its template, with the generated ones among them: in the real server
    /// both are one map. Labels that were said stay as they are, even if they are the same.
    fn complete(&self, object: &mut Value, sent: &Value) {
        let labels = at(object, "/spec/template/metadata/labels").clone();
        if labels.is_object() && entries(at(sent, "/metadata"), "labels").next().is_none() {
            set(inner(object, "metadata"), "labels", labels);
        }
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return Vec::new();
        }
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        if !is_true(spec, "manualSelector") {
            check_generated(object, spec, &path, &mut errors);
        }
        check_whole_spec(spec, &path, &mut errors);
        check_host_names(object, spec, &mut errors);
        if let Some(old) = old {
            check_whole_spec(spec, &path, &mut errors);
            check_changes(spec, old, &path, &mut errors);
        }
        errors
    }

    fn orphans(&self) -> bool {
        true
    }
}

/// What is filled in both in Jobs and in templates of Jobs.
pub(super) fn default_shared(spec: &mut Value) {
    default_template(inner(spec, "template"));
    with(spec, "podFailurePolicy", |policy| {
        each(policy, "rules", |rule| {
            each(rule, "onPodConditions", |condition| fill_text(condition, "status", "True"));
        });
    });
}

/// A Job finds its Pods by its own uid.
fn generate_selector(spec: &mut Value, name: &str, uid: &str) {
    let labels = inner(inner(inner(spec, "template"), "metadata"), "labels");
    for (name_label, uid_label) in NAMES.into_iter().zip(UIDS) {
        fill(labels, name_label, name);
        fill(labels, uid_label, uid);
    }
    fill(inner(inner(spec, "selector"), "matchLabels"), UIDS[1], uid);
}

fn check_generated(object: &Value, spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let (name, uid) = (metadata::text(object, "name"), metadata::text(object, "uid"));
    let expected = json!({NAMES[0]: name, NAMES[1]: name, UIDS[0]: uid, UIDS[1]: uid});
    let labels = at(spec, "/template/metadata/labels");
    let path_of_labels = path.child("template").child("metadata").child("labels");
    for label in [UIDS[0], NAMES[0], UIDS[1], NAMES[1]] {
        let path = path_of_labels.key(label);
        let wrong = format!("must be '{}'", text(&expected, label));
        match given(labels, label) {
            None => errors.push(FieldError::required(&path, wrong)),
            value if value != expected.get(label) => {
                errors.push(FieldError::invalid(&path, labels.clone(), wrong));
            }
            _ => {}
        }
    }
    let wish = at(spec, "/selector");
    if selector::is_usable(wish) && !selector::matches(wish, &expected) {
        let wrong = "`selector` not auto-generated";
        errors.push(FieldError::invalid(&path.child("selector"), wish.clone(), wrong));
    }
}

fn check_whole_spec(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_job_spec(spec, path, errors);
    match given(spec, "selector") {
        None => errors.push(FieldError::required(&path.child("selector"), "")),
        Some(wish) => selector::check(wish, &path.child("selector"), errors),
    }
    let labels = at(spec, "/template/metadata/labels");
    let matches = given(spec, "selector").is_some_and(|wish| selector::matches(wish, labels));
    if given(spec, "selector").is_none_or(selector::is_usable) && !matches {
        let path = path.child("template").child("metadata").child("labels");
        let wrong = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&path, labels.clone(), wrong));
    }
}

/// Checks what the spec of a Job and that of a template of Jobs have in common.
pub(super) fn check_job_spec(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let counts = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    check_counts(spec, &counts, path, errors);
    if given(spec, "maxFailedIndexes").is_some() && given(spec, "backoffLimitPerIndex").is_none() {
        let wrong = "when maxFailedIndexes is specified";
        errors.push(FieldError::required(&path.child("backoffLimitPerIndex"), wrong));
    }
    check_manager(spec, path, errors);
    check_completion(spec, path, errors);
    check_failures(spec, path, errors);
    check_success(spec, path, errors);
    check_replacement(spec, &path.child("podReplacementPolicy"), errors);
    let path_of_template = path.child("template");
    check_template(at(spec, "/template"), &path_of_template, errors);
    check_restart(spec, &path_of_template.child("spec").child("restartPolicy"), errors);
}

fn check_completion(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let mode = given(spec, "completionMode").and_then(Value::as_str).unwrap_or("NonIndexed");
    if !["NonIndexed", "Indexed"].contains(&mode) {
        let allowed = ["NonIndexed", "Indexed"];
        errors.push(names::not_one_of(&path.child("completionMode"), mode, &allowed));
    }
    if mode == "Indexed" {
        check_indexed(spec, path, errors);
    }
    if mode == "NonIndexed" {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            let Some(value) = number(spec, field) else { continue };
            errors.push(FieldError::invalid(&path.child(field), value, "requires indexed completion mode"));
        }
    }
}

fn check_indexed(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let completions = number(spec, "completions");
    if completions.is_none() {
        let wrong = "when completion mode is Indexed";
        errors.push(FieldError::required(&path.child("completions"), wrong));
    }
    if let Some(parallel) = number(spec, "parallelism").filter(|count| *count > MAX_PARALLEL_INDEXES) {
        let wrong = "must be less than or equal to 100000 when completion mode is Indexed";
        errors.push(FieldError::invalid(&path.child("parallelism"), parallel, wrong));
    }
    if let (Some(all), Some(failed)) = (completions, number(spec, "maxFailedIndexes"))
        && failed > all
    {
        let wrong = "must be less than or equal to completions";
        errors.push(FieldError::invalid(&path.child("maxFailedIndexes"), failed, wrong));
    }
}

fn check_replacement(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(policy) = given(spec, "podReplacementPolicy").and_then(Value::as_str) else { return };
    let allowed: &[&str] = if given(spec, "podFailurePolicy").is_some() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    if !allowed.contains(&policy) {
        errors.push(names::not_one_of(path, policy, allowed));
    }
}

fn check_restart(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    match text(at(spec, "/template/spec"), "restartPolicy") {
        "Always" | "" => {
            let wrong = "valid values: \"OnFailure\", \"Never\"";
            errors.push(FieldError::required(path, wrong));
        }
        "Never" => {}
        policy @ "OnFailure" => {
            if given(spec, "podFailurePolicy").is_some() {
                let wrong = "only \"Never\" is supported when podFailurePolicy is specified";
                errors.push(FieldError::invalid(path, policy, wrong));
            }
        }
        other => errors.push(names::not_one_of(path, other, &["OnFailure", "Never"])),
    }
}

/// The Pods of an indexed Job are named by their index.
fn check_host_names(object: &Value, spec: &Value, errors: &mut Vec<FieldError>) {
    let Some(completions) = number(spec, "completions").filter(|count| *count > 0) else { return };
    let name = metadata::text(object, "name");
    let longest = format!("{name}-{}", completions - 1);
    if text(spec, "completionMode") == "Indexed" && !names::dns_label(&longest).is_empty() {
        let wrong = format!("will not able to create pod with invalid DNS label: {longest}");
        errors.push(FieldError::invalid(&Path::new("metadata").child("name"), name, wrong));
    }
}
