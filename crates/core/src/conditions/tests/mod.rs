//! Tests of the conditions toolkit.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use muster_api::names::{CLUSTER_CONDITIONS, ConditionType as T, MEMBER_CONDITIONS, Reason};
use proptest::prelude::*;

use super::*;
use crate::generation::Applied;

mod messages;
mod mirroring;
mod resetting;
mod setting;
mod summarising;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn condition(kind: T, truth: Truth, generation: i64) -> Condition {
    let mut list = Vec::new();
    set(&mut list, kind, Finding::new(truth, Reason::AsDesired, "text"), generation, at(0));
    list.remove(0)
}

fn with_reason(kind: T, truth: Truth, reason: Reason) -> Condition {
    Condition { reason: reason.into(), ..condition(kind, truth, 1) }
}

fn truths() -> impl Strategy<Value = Truth> {
    prop::sample::select(vec![Truth::True, Truth::False, Truth::Unknown])
}
