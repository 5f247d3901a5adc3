//! Volumes, claims to them, and their classes.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, PersistentVolumeSpec, PersistentVolumeStatus,
};
use k8s_openapi::api::storage::v1::StorageClass;
use serde_json::Value;

use super::Printer;
use super::cells::{UNSET, age, is_ending, list, name, text, text_or};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

pub(super) static CLAIMS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Status", Says::Field(schema::<PersistentVolumeClaimStatus>, "phase")),
        Column::text("Volume", Says::Field(schema::<PersistentVolumeClaimSpec>, "volumeName")),
        Column::text("Capacity", Says::Field(schema::<PersistentVolumeClaimStatus>, "capacity")),
        Column::text("Access Modes", Says::Field(schema::<PersistentVolumeClaimStatus>, "accessModes")),
        Column::text("StorageClass", Says::Words("StorageClass of the pvc")),
        Column::text("VolumeAttributesClass", Says::Words("VolumeAttributesClass of the pvc")),
        AGE,
        Column::wide("VolumeMode", Says::Field(schema::<PersistentVolumeClaimSpec>, "volumeMode")),
    ],
    claim,
);

pub(super) static VOLUMES: Printer = Printer::new(
    &[
        NAME,
        Column::text("Capacity", Says::Field(schema::<PersistentVolumeSpec>, "capacity")),
        Column::text("Access Modes", Says::Field(schema::<PersistentVolumeSpec>, "accessModes")),
        Column::text(
            "Reclaim Policy",
            Says::Field(schema::<PersistentVolumeSpec>, "persistentVolumeReclaimPolicy"),
        ),
        Column::text("Status", Says::Field(schema::<PersistentVolumeStatus>, "phase")),
        Column::text("Claim", Says::Field(schema::<PersistentVolumeSpec>, "claimRef")),
        Column::text("StorageClass", Says::Words("StorageClass of the pv")),
        Column::text("VolumeAttributesClass", Says::Words("VolumeAttributesClass of the pv")),
        Column::text("Reason", Says::Field(schema::<PersistentVolumeStatus>, "reason")),
        AGE,
        Column::wide("VolumeMode", Says::Field(schema::<PersistentVolumeSpec>, "volumeMode")),
    ],
    volume,
);

pub(super) static CLASSES: Printer = Printer::new(
    &[
        NAME,
        Column::text("Provisioner", Says::Field(schema::<StorageClass>, "provisioner")),
        Column::text("ReclaimPolicy", Says::Field(schema::<StorageClass>, "reclaimPolicy")),
        Column::text("VolumeBindingMode", Says::Field(schema::<StorageClass>, "volumeBindingMode")),
        Column::text("AllowVolumeExpansion", Says::Field(schema::<StorageClass>, "allowVolumeExpansion")),
        AGE,
    ],
    class,
);

fn claim(claim: &Value, now: Timestamp) -> Row {
    let bound = !text(claim, "/spec/volumeName").is_empty();
    let (capacity, modes) = if bound {
        (text_or(claim, "/status/capacity/storage", "0"), modes(claim, "/status/accessModes"))
    } else {
        ("", String::new())
    };
    vec![
        name(claim),
        phase(claim).into(),
        text(claim, "/spec/volumeName").into(),
        capacity.into(),
        modes.into(),
        class_name(claim).into(),
        text_or(claim, "/spec/volumeAttributesClassName", UNSET).into(),
        age(claim, now),
        text_or(claim, "/spec/volumeMode", UNSET).into(),
    ]
    .into()
}

fn volume(volume: &Value, now: Timestamp) -> Row {
    let claim = volume
        .pointer("/spec/claimRef")
        .map_or_else(String::new, |claim| format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")));
    vec![
        name(volume),
        text_or(volume, "/spec/capacity/storage", "0").into(),
        modes(volume, "/spec/accessModes").into(),
        text(volume, "/spec/persistentVolumeReclaimPolicy").into(),
        phase(volume).into(),
        claim.into(),
        class_name(volume).into(),
        text_or(volume, "/spec/volumeAttributesClassName", UNSET).into(),
        text(volume, "/status/reason").into(),
        age(volume, now),
        text_or(volume, "/spec/volumeMode", UNSET).into(),
    ]
    .into()
}

fn class(class: &Value, now: Timestamp) -> Row {
    let annotation = |name: &str| {
        class
            .pointer("/metadata/annotations")
            .map_or("", |all| all.get(name).and_then(Value::as_str).unwrap_or_default())
    };
    let default =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|name| annotation(name) == "true");
    let mark = if default { " (default)" } else { "" };
    vec![
        format!("{}{mark}", text(class, "/metadata/name")).into(),
        text(class, "/provisioner").into(),
        text_or(class, "/reclaimPolicy", "Delete").into(),
        text_or(class, "/volumeBindingMode", "Immediate").into(),
        class.get("allowVolumeExpansion").cloned().unwrap_or(Value::Bool(false)),
        age(class, now),
    ]
    .into()
}

fn phase(object: &Value) -> &str {
    if is_ending(object) { "Terminating" } else { text(object, "/status/phase") }
}

/// The class, which old objects have in an annotation.
fn class_name(object: &Value) -> &str {
    let old = object.pointer("/metadata/annotations/volume.beta.kubernetes.io~1storage-class");
    old.and_then(Value::as_str).unwrap_or_else(|| text(object, "/spec/storageClassName"))
}

/// The ways to mount it, each once and in a fixed order.
fn modes(object: &Value, path: &str) -> String {
    const MODES: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let given = list(object, path);
    let short =
        MODES.iter().filter(|(name, _)| given.iter().any(|mode| mode == name)).map(|(_, short)| *short);
    short.collect::<Vec<_>>().join(",")
}
