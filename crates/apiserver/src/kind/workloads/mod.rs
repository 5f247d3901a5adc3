//! What is particular to the kinds that run something: Pods and all that makes, finds and feeds them.
//!
//! The defaults that are set are listed in the README beside this file.

mod allocation;
mod claim;
mod cluster_ip;
mod controllers;
mod cron_job;
mod daemon_set;
mod deployment;
mod fields;
mod job;
mod job_policies;
mod job_update;
mod names;
mod node;
mod node_ports;
mod persistent_volume;
mod pod;
mod pod_admission;
mod pod_update;
mod quantity;
mod replica_set;
mod revision;
mod rolling;
mod runtime_class;
mod schedule;
mod selector;
mod service;
mod service_checks;
mod service_network;
mod stateful_set;
mod template;

pub(crate) use self::service::held;
pub use self::service_network::ServiceNetwork;
use super::Particular;

/// What is particular to a kind of this family; None for other kinds.
pub fn particular(api_version: &str, kind: &str) -> Option<&'static dyn Particular> {
    Some(match (api_version, kind) {
        ("v1", "Pod") => &pod::Pod,
        ("v1", "Service") => &service::Service,
        ("v1", "PersistentVolumeClaim") => &claim::PersistentVolumeClaim,
        ("v1", "PersistentVolume") => &persistent_volume::PersistentVolume,
        ("v1", "Node") => &node::Node,
        ("apps/v1", "StatefulSet") => &stateful_set::StatefulSet,
        ("apps/v1", "Deployment") => &deployment::Deployment,
        ("apps/v1", "ReplicaSet") => &replica_set::ReplicaSet,
        ("apps/v1", "DaemonSet") => &daemon_set::DaemonSet,
        ("apps/v1", "ControllerRevision") => &revision::ControllerRevision,
        ("batch/v1", "Job") => &job::Job,
        ("batch/v1", "CronJob") => &cron_job::CronJob,
        _ => return None,
    })
}
