//! Tables of the built-in kinds: each has its own columns.

mod batch;
mod cells;
mod config;
mod endpoints;
mod events;
mod nodes;
mod pod_status;
mod pods;
mod rbac;
mod scales;
mod services;
mod volumes;
mod workloads;

use std::borrow::Cow;
use std::sync::OnceLock;

use jiff::Timestamp;
use serde_json::Value;

use super::column::{CREATED_AT, Column, NAME};
use super::{Print, Row};

/// The printers of scales, of built-in kinds and of custom resources.
pub(super) const SCALES: &Printer = &scales::SCALES;
pub(super) const CUSTOM_SCALES: &Printer = &scales::CUSTOM_SCALES;

/// How a built-in kind is printed.
pub(super) struct Printer {
    columns: &'static [Column],
    row: fn(&Value, Timestamp) -> Row,
    /// The columns with their descriptions, when they were needed once: it takes a while to find them.
    told: OnceLock<Vec<Value>>,
}

impl Printer {
    const fn new(columns: &'static [Column], row: fn(&Value, Timestamp) -> Row) -> Self {
        Self { columns, row, told: OnceLock::new() }
    }
}

impl Print for &'static Printer {
    fn columns(&self) -> Cow<'_, [Value]> {
        let told = self.told.get_or_init(|| self.columns.iter().map(Column::definition).collect());
        Cow::Borrowed(told)
    }

    fn row(&self, object: &Value, now: Timestamp) -> Row {
        (self.row)(object, now)
    }
}

/// What has no columns of its own: roles, definitions.
static PLAIN: Printer = Printer::new(&[NAME, CREATED_AT], |object, _| {
    vec![cells::name(object), cells::text(object, "/metadata/creationTimestamp").into()].into()
});

/// The printer of a built-in resource (`group/plural`).
pub(super) fn printer(id: &str) -> Option<&'static Printer> {
    Some(match id {
        "/pods" => &pods::PODS,
        "/services" => &services::SERVICES,
        "/nodes" => &nodes::NODES,
        "/persistentvolumes" => &volumes::VOLUMES,
        "/persistentvolumeclaims" => &volumes::CLAIMS,
        "storage.k8s.io/storageclasses" => &volumes::CLASSES,
        "/configmaps" => &config::CONFIG_MAPS,
        "/secrets" => &config::SECRETS,
        "/namespaces" => &config::NAMESPACES,
        "/serviceaccounts" => &config::SERVICE_ACCOUNTS,
        "coordination.k8s.io/leases" => &config::LEASES,
        "policy/poddisruptionbudgets" => &config::BUDGETS,
        "/events" | "events.k8s.io/events" => &events::EVENTS,
        "/endpoints" => &endpoints::ENDPOINTS,
        "discovery.k8s.io/endpointslices" => &endpoints::SLICES,
        "apps/deployments" => &workloads::DEPLOYMENTS,
        "apps/statefulsets" => &workloads::STATEFUL_SETS,
        "apps/daemonsets" => &workloads::DAEMON_SETS,
        "apps/replicasets" => &workloads::REPLICA_SETS,
        "apps/controllerrevisions" => &workloads::REVISIONS,
        "batch/jobs" => &batch::JOBS,
        "batch/cronjobs" => &batch::CRON_JOBS,
        "rbac.authorization.k8s.io/rolebindings" => &rbac::ROLE_BINDINGS,
        "rbac.authorization.k8s.io/clusterrolebindings" => &rbac::CLUSTER_ROLE_BINDINGS,
        "rbac.authorization.k8s.io/roles"
        | "rbac.authorization.k8s.io/clusterroles"
        | "apiextensions.k8s.io/customresourcedefinitions" => &PLAIN,
        _ => return None,
    })
}
