//! Deployments, stateful sets, daemon sets, replica sets and their revisions.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{
    ControllerRevision, DaemonSetSpec, DaemonSetStatus, DeploymentSpec, DeploymentStatus, ReplicaSetSpec,
    ReplicaSetStatus,
};
use k8s_openapi::api::core::v1::PodSpec;
use serde_json::Value;

use super::Printer;
use super::cells::{NONE, age, containers, labels, list, name, number, selector, selector_or_none, text};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

const READY: Column = Column::text("Ready", Says::Words("Number of the pod with ready state"));
pub(super) const CONTAINERS: Column =
    Column::wide("Containers", Says::Words("Names of each container in the template."));
pub(super) const IMAGES: Column =
    Column::wide("Images", Says::Words("Images referenced by each container in the template."));
const TEMPLATE: &str = "/spec/template/spec/containers";

pub(super) static DEPLOYMENTS: Printer = Printer::new(
    &[
        NAME,
        READY,
        Column::text("Up-to-date", Says::Field(schema::<DeploymentStatus>, "updatedReplicas")),
        Column::text("Available", Says::Field(schema::<DeploymentStatus>, "availableReplicas")),
        AGE,
        CONTAINERS,
        IMAGES,
        Column::wide("Selector", Says::Field(schema::<DeploymentSpec>, "selector")),
    ],
    |object, now| {
        let mut cells = vec![
            name(object),
            ready(object),
            number(object, "/status/updatedReplicas").into(),
            number(object, "/status/availableReplicas").into(),
            age(object, now),
        ];
        cells.extend(containers(object, TEMPLATE));
        cells.push(selector(object, "/spec/selector").into());
        cells.into()
    },
);

pub(super) static STATEFUL_SETS: Printer =
    Printer::new(&[NAME, READY, AGE, CONTAINERS, IMAGES], |object, now| {
        let mut cells = vec![name(object), ready(object), age(object, now)];
        cells.extend(containers(object, TEMPLATE));
        cells.into()
    });

pub(super) static DAEMON_SETS: Printer = Printer::new(
    &[
        NAME,
        Column::integer("Desired", Says::Field(schema::<DaemonSetStatus>, "desiredNumberScheduled")),
        Column::integer("Current", Says::Field(schema::<DaemonSetStatus>, "currentNumberScheduled")),
        Column::integer("Ready", Says::Field(schema::<DaemonSetStatus>, "numberReady")),
        Column::integer("Up-to-date", Says::Field(schema::<DaemonSetStatus>, "updatedNumberScheduled")),
        Column::integer("Available", Says::Field(schema::<DaemonSetStatus>, "numberAvailable")),
        Column::text("Node Selector", Says::Field(schema::<PodSpec>, "nodeSelector")),
        AGE,
        CONTAINERS,
        IMAGES,
        Column::wide("Selector", Says::Field(schema::<DaemonSetSpec>, "selector")),
    ],
    daemon_set,
);

pub(super) static REPLICA_SETS: Printer = Printer::new(
    &[
        NAME,
        Column::integer("Desired", Says::Field(schema::<ReplicaSetSpec>, "replicas")),
        Column::integer("Current", Says::Field(schema::<ReplicaSetStatus>, "replicas")),
        Column::integer("Ready", Says::Field(schema::<ReplicaSetStatus>, "readyReplicas")),
        AGE,
        CONTAINERS,
        IMAGES,
        Column::wide("Selector", Says::Field(schema::<ReplicaSetSpec>, "selector")),
    ],
    |object, now| {
        let counts = ["/spec/replicas", "/status/replicas", "/status/readyReplicas"];
        let mut cells = vec![name(object)];
        cells.extend(counts.map(|path| number(object, path).into()));
        cells.push(age(object, now));
        cells.extend(containers(object, TEMPLATE));
        cells.push(selector_or_none(object, "/spec/selector").into());
        cells.into()
    },
);

pub(super) static REVISIONS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Controller", Says::Words("Controller of the object")),
        Column::text("Revision", Says::Field(schema::<ControllerRevision>, "revision")),
        AGE,
    ],
    |object, now| {
        let revision = number(object, "/revision");
        vec![name(object), controller(object).into(), revision.into(), age(object, now)].into()
    },
);

fn daemon_set(object: &Value, now: Timestamp) -> Row {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let mut cells = vec![name(object)];
    cells.extend(counts.map(|field| number(object, &format!("/status/{field}")).into()));
    cells.push(labels(object, "/spec/template/spec/nodeSelector").into());
    cells.push(age(object, now));
    cells.extend(containers(object, TEMPLATE));
    cells.push(selector_or_none(object, "/spec/selector").into());
    cells.into()
}

fn ready(object: &Value) -> Value {
    format!("{}/{}", number(object, "/status/readyReplicas"), number(object, "/spec/replicas")).into()
}

/// Kind, group and name of what controls the object.
fn controller(object: &Value) -> String {
    let owner = list(object, "/metadata/ownerReferences").iter().find(|owner| owner["controller"] == true);
    let Some(owner) = owner else { return NONE.to_owned() };
    let (kind, name) = (text(owner, "/kind").to_lowercase(), text(owner, "/name"));
    match text(owner, "/apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{}/{name}", group.to_lowercase()),
        None => format!("{kind}/{name}"),
    }
}
