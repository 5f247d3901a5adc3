//! Small kinds: configuration, namespaces, accounts, leases, disruption budgets.

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::LeaseSpec;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::Value;

use super::Printer;
use super::cells::{age, name, number, text};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

pub(super) static CONFIG_MAPS: Printer = Printer::new(
    &[NAME, Column::text("Data", Says::Field(schema::<ConfigMap>, "data")), AGE],
    |object, now| {
        let entries = size(object, "data") + size(object, "binaryData");
        vec![name(object), entries.into(), age(object, now)].into()
    },
);

pub(super) static SECRETS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Type", Says::Field(schema::<Secret>, "type")),
        Column::text("Data", Says::Field(schema::<Secret>, "data")),
        AGE,
    ],
    |object, now| {
        vec![name(object), text(object, "/type").into(), size(object, "data").into(), age(object, now)].into()
    },
);

pub(super) static NAMESPACES: Printer = Printer::new(
    &[NAME, Column::text("Status", Says::Words("The status of the namespace")), AGE],
    |object, now| vec![name(object), text(object, "/status/phase").into(), age(object, now)].into(),
);

pub(super) static SERVICE_ACCOUNTS: Printer =
    Printer::new(&[NAME, AGE], |object, now| vec![name(object), age(object, now)].into());

pub(super) static LEASES: Printer = Printer::new(
    &[NAME, Column::text("Holder", Says::Field(schema::<LeaseSpec>, "holderIdentity")), AGE],
    |object, now| vec![name(object), text(object, "/spec/holderIdentity").into(), age(object, now)].into(),
);

pub(super) static BUDGETS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Min Available", Says::Words("The minimum number of pods that must be available.")),
        Column::text("Max Unavailable", Says::Words("The maximum number of pods that may be unavailable.")),
        Column::integer(
            "Allowed Disruptions",
            Says::Words("Calculated number of pods that may be disrupted at this time."),
        ),
        AGE,
    ],
    budget,
);

fn budget(object: &Value, now: Timestamp) -> Row {
    let limit = |path: &str| match object.pointer(path) {
        None | Some(Value::Null) => Value::from("N/A"),
        Some(Value::String(text)) => text.clone().into(),
        Some(other) => other.to_string().into(),
    };
    let allowed = number(object, "/status/disruptionsAllowed");
    vec![
        name(object),
        limit("/spec/minAvailable"),
        limit("/spec/maxUnavailable"),
        allowed.into(),
        age(object, now),
    ]
    .into()
}

fn size(object: &Value, field: &str) -> usize {
    object.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}
