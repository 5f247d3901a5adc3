//! Who is bound to which role.

use jiff::Timestamp;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use serde_json::Value;

use super::Printer;
use super::cells::{age, list, name, text};
use crate::table::Row;
use crate::table::column::{AGE, Column, NAME, Says, schema};

const IMMUTABLE: &str = " This field is immutable.";

pub(super) static ROLE_BINDINGS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Role", Says::Before(schema::<RoleBinding>, "roleRef", IMMUTABLE)),
        AGE,
        Column::wide("Users", Says::Words("Users in the roleBinding")),
        Column::wide("Groups", Says::Words("Groups in the roleBinding")),
        Column::wide("ServiceAccounts", Says::Words("ServiceAccounts in the roleBinding")),
    ],
    row,
);

pub(super) static CLUSTER_ROLE_BINDINGS: Printer = Printer::new(
    &[
        NAME,
        Column::text("Role", Says::Before(schema::<ClusterRoleBinding>, "roleRef", IMMUTABLE)),
        AGE,
        Column::wide("Users", Says::Words("Users in the clusterRoleBinding")),
        Column::wide("Groups", Says::Words("Groups in the clusterRoleBinding")),
        Column::wide("ServiceAccounts", Says::Words("ServiceAccounts in the clusterRoleBinding")),
    ],
    row,
);

fn row(binding: &Value, now: Timestamp) -> Row {
    let role = format!("{}/{}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
    let subjects = |kind: &str| {
        let named = list(binding, "/subjects").iter().filter(|subject| subject["kind"] == kind);
        let written = named.map(|subject| match text(subject, "/namespace") {
            "" => text(subject, "/name").to_owned(),
            namespace => format!("{namespace}/{}", text(subject, "/name")),
        });
        Value::from(written.collect::<Vec<_>>().join(", "))
    };
    vec![
        name(binding),
        role.into(),
        age(binding, now),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
    .into()
}
