//! The conditions of a Deployment: what changes them, and what does not.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::{DeploymentCondition, DeploymentStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

pub(super) const AVAILABLE: &str = "Available";
pub(super) const PROGRESSING: &str = "Progressing";
pub(super) const FAILURE: &str = "ReplicaFailure";

pub(super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
pub(super) const PAUSED: &str = "DeploymentPaused";
pub(super) const COMPLETE: &str = "NewReplicaSetAvailable";

/// A condition as of now.
pub(super) fn condition(
    type_: &str,
    status: &str,
    reason: &str,
    message: String,
    now: Timestamp,
) -> DeploymentCondition {
    // As the API keeps it, so that it is equal when it is read again.
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    DeploymentCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message),
        last_update_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    }
}

/// The condition of a type.
pub(super) fn get<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

/// The reason of a condition.
pub(super) fn reason<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a str> {
    get(status, type_).and_then(|condition| condition.reason.as_deref())
}

/// Takes a condition away.
pub(super) fn remove(status: &mut DeploymentStatus, type_: &str) {
    if let Some(conditions) = &mut status.conditions {
        conditions.retain(|condition| condition.type_ != type_);
    }
    status.conditions = status.conditions.take().filter(|conditions| !conditions.is_empty());
}

/// Sets a condition, if its status or reason is another one. The time of transition moves with the status only.
pub(super) fn set(status: &mut DeploymentStatus, mut condition: DeploymentCondition) {
    if let Some(old) = get(status, &condition.type_) {
        if old.status == condition.status && old.reason == condition.reason {
            return;
        }
        if old.status == condition.status {
            condition.last_transition_time.clone_from(&old.last_transition_time);
        }
    }
    remove(status, &condition.type_.clone());
    status.conditions.get_or_insert_with(Vec::new).push(condition);
}

/// Sets a condition also if only its message or time is new.
pub(super) fn renew(status: &mut DeploymentStatus, mut condition: DeploymentCondition) {
    if let Some(old) = get(status, &condition.type_)
        && old.status == condition.status
    {
        condition.last_transition_time.clone_from(&old.last_transition_time);
    }
    remove(status, &condition.type_.clone());
    status.conditions.get_or_insert_with(Vec::new).push(condition);
}

/// How long there may yet be no progress; None if nothing waits for it.
pub(super) fn until_deadline(
    status: &DeploymentStatus,
    deadline: i32,
    now: Timestamp,
) -> Option<SignedDuration> {
    let condition = get(status, PROGRESSING)?;
    if matches!(condition.reason.as_deref(), Some(COMPLETE | TIMED_OUT)) {
        return None;
    }
    let since = condition.last_update_time.as_ref()?.0;
    Some(SignedDuration::from_secs(i64::from(deadline)) - now.duration_since(since))
}
