//! Every object that the operator writes, as a function of specs: ready for server-side apply, with only the fields that
//! we mean, quantities in canonical form, and always in the same order.
//!
//! In reading order: [`names`] and [`owners`] say what things are called and whose they are; [`config`] is the immutable
//! ConfigMap with all that a member needs besides its own spec; [`member`] the Member of a pool; [`stateful_set`] its
//! workload, a function of these two; then [`claim`], [`services`], [`disruption`], [`drivers`] and [`secrets`].
//! [`cluster`] lists what one cluster wants at once.

mod affinity;
pub mod claim;
pub mod config;
mod container;
pub mod disruption;
pub mod drivers;
mod hex;
mod main_container;
pub mod member;
pub mod names;
pub mod owners;
mod pod;
pub mod secrets;
pub mod services;
pub mod stateful_set;
pub mod storage;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use muster_api::engine::EngineSecret;
use muster_api::{ReplicatedCluster, ReplicationEngineSpec};
use thiserror::Error;

use config::MemberConfig;
use drivers::DriverWorkload;

/// Why something cannot be built. A spec that passed validation, and a ConfigMap that we wrote, give none of these.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The cluster asks for a version that the engine does not have.
    #[error("the engine has no version {0:?}")]
    NoVersion(String),
    /// The cluster asks for a driver that the engine does not have.
    #[error("the engine has no driver {0:?}")]
    NoDriver(String),
    /// The ConfigMap of the members would be larger than Kubernetes admits.
    #[error("template, files and parameters come to {0} bytes; a ConfigMap holds {max}", max = config::SIZE_MAX)]
    TooLarge(usize),
    /// A file's name would make a key that Kubernetes refuses.
    #[error("the name of the file {0:?} is too long")]
    FileName(String),
    /// A ConfigMap is not one of ours, or not whole.
    #[error("ConfigMap {name:?} is not the configuration of members: {why}")]
    NotAConfig {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The Member has no workload yet.
    #[error("Member {0:?} has no workload yet")]
    NoWorkload(String),
    /// The Member names another configuration, or a version that this one is not for.
    #[error("Member {member:?} runs {wanted:?}, and the configuration is {found:?}")]
    OtherConfig {
        /// The Member.
        member: String,
        /// What its workload says.
        wanted: String,
        /// What was given.
        found: String,
    },
    /// The Member runs on a host of its own.
    #[error("Member {0:?} is external and has no workload here")]
    External(String),
    /// The Member has devices and no volume.
    #[error("Member {0:?} has no volume for the agent's state: give a pvcName")]
    NoVolume(String),
    /// The engine's template has no container `main`.
    #[error("the template has no container main")]
    NoMain,
}

/// All that a cluster wants besides its Members and what belongs to them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterChildren {
    /// What the members run with, as it stands in `config_map`.
    pub config: MemberConfig,
    /// The configuration of the members; its name is what `Member.spec.workload.config` says.
    pub config_map: ConfigMap,
    /// For clients, for readers, and the headless one.
    pub services: [Service; 3],
    /// How many members may be away at once.
    pub disruption_budget: PodDisruptionBudget,
    /// The workloads of the drivers, in the order of the spec.
    pub drivers: Vec<DriverWorkload>,
    /// The account Secrets that must be there: made once by [`secrets::account`], never applied.
    pub accounts: Vec<EngineSecret>,
}

/// All that a cluster wants besides its Members and what belongs to them.
pub fn cluster(
    cluster: &ReplicatedCluster,
    engine: &ReplicationEngineSpec,
    agent_image: &str,
) -> Result<ClusterChildren, BuildError> {
    let config = MemberConfig::of(cluster, engine, agent_image)?;
    Ok(ClusterChildren {
        config_map: config.config_map(cluster)?,
        config,
        services: [
            services::client(cluster, engine),
            services::replicas(cluster, engine),
            services::members(cluster, engine),
        ],
        disruption_budget: disruption::budget(cluster),
        drivers: drivers::all(cluster, engine)?,
        accounts: engine.secrets.clone(),
    })
}

#[cfg(test)]
mod tests;
