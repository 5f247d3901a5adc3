//! Scales.

use k8s_openapi::api::autoscaling::v1::{ScaleSpec, ScaleStatus};
use serde_json::Value;

use super::Printer;
use super::cells::{age, name, number};
use crate::table::column::{AGE, AGE_AS_DATE, Column, NAME, Says, schema};

pub(super) static SCALES: Printer = Printer::new(
    &[
        Column::text("Name", Says::Metadata("name")),
        Column::integer("Desired", Says::Field(schema::<ScaleSpec>, "replicas")),
        Column::integer("Available", Says::Field(schema::<ScaleStatus>, "replicas")),
        AGE,
    ],
    |scale, now| {
        let (desired, there) = (number(scale, "/spec/replicas"), number(scale, "/status/replicas"));
        vec![name(scale), desired.into(), there.into(), age(scale, now)].into()
    },
);

pub(super) static CUSTOM_SCALES: Printer = Printer::new(
    &[
        NAME,
        Column::integer("Desired", Says::Words("Number of desired replicas")),
        Column::integer("Available", Says::Words("Number of actual replicas")),
        AGE_AS_DATE,
    ],
    |scale, now| {
        // None wanted is not said.
        let at = |path: &str| scale.pointer(path).cloned().unwrap_or(Value::Null);
        vec![name(scale), at("/spec/replicas"), at("/status/replicas"), age(scale, now)].into()
    },
);
