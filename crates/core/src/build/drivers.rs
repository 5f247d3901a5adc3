//! The auxiliary workloads that an engine declares and a cluster asks for: a Deployment, or a DaemonSet.

use k8s_openapi::api::apps::v1::{DaemonSet, DaemonSetSpec, Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{EnvVar, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use muster_api::ReplicatedCluster;
use muster_api::cluster::Driver;
use muster_api::engine::{DriverKind, EngineDriver, ReplicationEngineSpec};

use super::pod::Secrets;
use super::{BuildError, main_container, names, owners, pod};

/// The workload of a driver.
#[derive(Clone, Debug, PartialEq)]
pub enum DriverWorkload {
    /// As many replicas as asked for.
    Deployment(Box<Deployment>),
    /// One on every node.
    DaemonSet(Box<DaemonSet>),
}

impl DriverWorkload {
    /// Its metadata.
    pub fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Deployment(deployment) => &deployment.metadata,
            Self::DaemonSet(daemon_set) => &daemon_set.metadata,
        }
    }
}

/// The workloads of all drivers that a cluster asks for, in its order.
pub fn all(
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngineSpec,
) -> Result<Vec<DriverWorkload>, BuildError> {
    let workload = |driver: &Driver| {
        let declared = engine.drivers.iter().find(|declared| declared.name == driver.name);
        let declared = declared.ok_or_else(|| BuildError::NoDriver(driver.name.clone()))?;
        Ok(of_driver(cluster, engine, driver, declared))
    };
    cluster.spec.drivers.iter().map(workload).collect()
}

fn of_driver(
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngineSpec,
    driver: &Driver,
    declared: &EngineDriver,
) -> DriverWorkload {
    let of = names::of_cluster(cluster);
    let labels = names::driver_labels(of, &driver.name);
    let name = names::driver(of, &driver.name);
    let metadata = names::metadata(name, cluster.metadata.namespace.as_ref(), labels.clone());
    let metadata = owners::owned(metadata, owners::by_cluster(cluster));
    let selector = LabelSelector { match_labels: Some(labels), match_expressions: None };
    let template = template(of, engine, driver, declared);
    match declared.kind {
        DriverKind::Deployment => DriverWorkload::Deployment(Box::new(Deployment {
            metadata,
            spec: Some(DeploymentSpec {
                replicas: Some(driver.replicas.unwrap_or(declared.replicas)),
                selector,
                template,
                ..DeploymentSpec::default()
            }),
            status: None,
        })),
        DriverKind::DaemonSet => DriverWorkload::DaemonSet(Box::new(DaemonSet {
            metadata,
            spec: Some(DaemonSetSpec { selector, template, ..DaemonSetSpec::default() }),
            status: None,
        })),
    }
}

fn template(
    cluster: &str,
    engine: &ReplicationEngineSpec,
    driver: &Driver,
    declared: &EngineDriver,
) -> PodTemplateSpec {
    let own: Vec<String> = engine.secrets.iter().map(|secret| secret.name.clone()).collect();
    let mut spec = pod::spec(&declared.template, Secrets { cluster, names: &own });
    if let (Some(first), Some(resources)) = (spec.containers.first_mut(), &driver.resources) {
        first.resources = Some(resources.into());
    }
    for container in &mut spec.containers {
        let mut variables = environment(cluster, &driver.name);
        variables.append(container.env.get_or_insert_default());
        container.env = Some(variables);
    }
    let labels = names::driver_pod_labels(cluster, &driver.name);
    let metadata = ObjectMeta { labels: Some(labels), ..ObjectMeta::default() };
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) }
}

/// Which cluster it serves; the Services are named after it.
fn environment(cluster: &str, driver: &str) -> Vec<EnvVar> {
    let value = |name: &str, value: &str| EnvVar {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        value_from: None,
    };
    vec![
        value("MUSTER_CLUSTER", cluster),
        value("MUSTER_DRIVER", driver),
        main_container::of_pod("MUSTER_NAMESPACE", "metadata.namespace"),
    ]
}
