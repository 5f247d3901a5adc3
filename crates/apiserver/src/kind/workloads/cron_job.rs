//! `CronJob`s.

use serde_json::{Value, json};

use super::controllers::{check_counts, reset_status, spec_path};
use super::fields::{at, fill, fill_text, given, inner, is_true, text};
use super::job::{check_job_spec, default_shared};
use super::{names, schedule};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path};

/// Its Jobs get a dash and ten digits behind its name, and a name has at most 63 characters.
const MAX_NAME: usize = 52;

/// What is particular to `CronJob`s.
#[derive(Debug)]
pub(super) struct CronJob;

impl Particular for CronJob {
    fn default(&self, object: &mut Value) {
        inner(object, "status");
        let spec = inner(object, "spec");
        fill_text(spec, "concurrencyPolicy", "Allow");
        fill(spec, "suspend", false);
        fill(spec, "successfulJobsHistoryLimit", 3);
        fill(spec, "failedJobsHistoryLimit", 1);
        let template = inner(spec, "jobTemplate");
        inner(template, "metadata");
        default_shared(inner(template, "spec"));
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
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        if part == Part::Status {
            return Vec::new();
        }
        let (spec, path) = (at(object, "/spec"), spec_path());
        let mut errors = Vec::new();
        check_schedule(spec, old.map(|old| at(old, "/spec")), &path, &mut errors);
        check_counts(spec, &["startingDeadlineSeconds"], &path, &mut errors);
        if old.is_none_or(|old| at(old, "/spec/timeZone") != at(spec, "/timeZone")) {
            check_time_zone(spec, &path.child("timeZone"), &mut errors);
        }
        let policy = text(spec, "concurrencyPolicy");
        let allowed = ["Allow", "Forbid", "Replace"];
        names::check_one_of(policy, &allowed, &path.child("concurrencyPolicy"), &mut errors);
        check_job_template(at(spec, "/jobTemplate/spec"), &path, &mut errors);
        let limits = ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
        check_counts(spec, &limits, &path, &mut errors);
        let name = metadata::text(object, "name");
        if old.is_none() && name.len() > MAX_NAME {
            let wrong = "must be no more than 52 characters";
            errors.push(FieldError::invalid(&Path::new("metadata").child("name"), name, wrong));
        }
        errors
    }
}

fn check_schedule(spec: &Value, old: Option<&Value>, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("schedule");
    let wish = text(spec, "schedule");
    if wish.is_empty() {
        errors.push(FieldError::required(&path, ""));
        return;
    }
    if let Err(wrong) = schedule::check(wish) {
        errors.push(FieldError::invalid(&path, wish, wrong));
    }
    let had_zone = old.is_some_and(|old| text(old, "schedule").contains("TZ"));
    if wish.contains("TZ") && !had_zone {
        let wrong = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.push(FieldError::invalid(&path, wish, wrong));
    } else if wish.contains("TZ") && given(spec, "timeZone").is_some() {
        let wrong = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
        errors.push(FieldError::invalid(&path, wish, wrong));
    }
}

fn check_time_zone(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(zone) = given(spec, "timeZone").and_then(Value::as_str) else { return };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.starts_with('-') && part.chars().all(is_letter)
    };
    let wrong = if zone.is_empty() {
        "timeZone must be nil or non-empty string".to_owned()
    } else if zone.eq_ignore_ascii_case("local") {
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones".to_owned()
    } else if !zone.split('/').all(is_part) || jiff::tz::db().get(zone).is_err() {
        format!("unknown time zone {zone}")
    } else {
        return;
    };
    errors.push(FieldError::invalid(path, zone, wrong));
}

fn check_job_template(job: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let path = path.child("jobTemplate").child("spec");
    check_job_spec(job, &path, errors);
    if let Some(wish) = given(job, "selector") {
        let wrong = "`selector` will be auto-generated";
        errors.push(FieldError::invalid(&path.child("selector"), wish.clone(), wrong));
    }
    if is_true(job, "manualSelector") {
        let allowed = ["nil".to_owned(), "false".to_owned()];
        errors.push(FieldError::not_supported(&path.child("manualSelector"), true, &allowed));
    }
}
