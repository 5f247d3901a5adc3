//! `ReplicationEngine`: how to run and drive one kind of software.

mod action;
mod container;
mod spec;
mod template;
mod topology;

pub use action::{ActionSpec, Actions};
pub use container::{
    Capabilities, Container, ContainerPort, ContainerSecurityContext, EnvVar, ExecProbe, HttpProbe, Mount,
    Probe, Protocol, SecretKey, TcpProbe,
};
pub use spec::{
    DriverKind, EngineDriver, EnginePort, EngineSecret, EngineSecretKey, EngineVersion, Parameter,
    ReplicationEngine, ReplicationEngineSpec, ReplicationEngineStatus,
};
pub use template::{
    ConfigMapVolume, EmptyDirVolume, KeyToFile, PodSecurityContext, SecretVolume, Template, Volume,
};
pub use topology::{AcknowledgedCopies, DefaultPrimaries, Election, Topology};
