//! Jobs and what starts them by the clock.

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::{CronJobSpec, CronJobStatus, JobSpec, JobStatus};
use serde_json::Value;

use super::Printer;
use super::cells::{
    NONE, UNSET, age, containers, has_condition, is_ending, list, name, number, selector_or_none, text,
    text_or,
};
use super::workloads::{CONTAINERS, IMAGES};
use crate::table::Row;
use crate::table::age::{human, since};
use crate::table::column::{AGE, Column, NAME, Says, schema};

const SELECTOR: Column = Column::wide("Selector", Says::Field(schema::<JobSpec>, "selector"));

pub(super) static JOBS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Status", Says::Words("Status of the job.")),
        Column::text("Completions", Says::Field(schema::<JobStatus>, "succeeded")),
        Column::text("Duration", Says::Words("Time required to complete the job.")),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    job,
);

pub(super) static CRON_JOBS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Schedule", Says::Field(schema::<CronJobSpec>, "schedule")),
        Column::text("Timezone", Says::Field(schema::<CronJobSpec>, "timeZone")),
        Column::boolean("Suspend", Says::Field(schema::<CronJobSpec>, "suspend")),
        Column::integer("Active", Says::Field(schema::<CronJobStatus>, "active")),
        Column::text("Last Schedule", Says::Field(schema::<CronJobStatus>, "lastScheduleTime")),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cron_job,
);

fn job(job: &Value, now: Timestamp) -> Row {
    let mut cells = vec![
        name(job),
        status(job).into(),
        completions(job).into(),
        duration(job, now).into(),
        age(job, now),
    ];
    cells.extend(containers(job, "/spec/template/spec/containers"));
    cells.push(selector_or_none(job, "/spec/selector").into());
    cells.into()
}

fn cron_job(job: &Value, now: Timestamp) -> Row {
    let suspend = match job.pointer("/spec/suspend") {
        Some(Value::Bool(true)) => "True",
        Some(Value::Bool(false)) => "False",
        _ => UNSET,
    };
    let last = match text(job, "/status/lastScheduleTime") {
        "" => NONE.to_owned(),
        time => since(time, now),
    };
    let mut cells = vec![
        name(job),
        text(job, "/spec/schedule").into(),
        text_or(job, "/spec/timeZone", NONE).into(),
        suspend.into(),
        list(job, "/status/active").len().into(),
        last.into(),
        age(job, now),
    ];
    cells.extend(containers(job, "/spec/jobTemplate/spec/template/spec/containers"));
    cells.push(selector_or_none(job, "/spec/jobTemplate/spec/selector").into());
    cells.into()
}

/// The first of these conditions that is true; being deleted goes before those that may still pass.
fn status(job: &Value) -> &'static str {
    let first = |kinds: &[&'static str]| kinds.iter().copied().find(|kind| has_condition(job, kind));
    if let Some(over) = first(&["Complete", "Failed"]) {
        return over;
    }
    if is_ending(job) {
        return "Terminating";
    }
    first(&["Suspended", "FailureTarget", "SuccessCriteriaMet"]).unwrap_or("Running")
}

fn completions(job: &Value) -> String {
    let done = number(job, "/status/succeeded");
    match (job.pointer("/spec/completions").and_then(Value::as_i64), number(job, "/spec/parallelism")) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, at_once) if at_once > 1 => format!("{done}/1 of {at_once}"),
        (None, _) => format!("{done}/1"),
    }
}

fn duration(job: &Value, now: Timestamp) -> String {
    let time = |path: &str| text(job, path).parse::<Timestamp>().ok();
    let Some(start) = time("/status/startTime") else { return String::new() };
    let end = time("/status/completionTime").unwrap_or(now);
    human(end.duration_since(start).as_secs())
}
