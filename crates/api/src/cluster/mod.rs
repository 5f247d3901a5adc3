//! `ReplicatedCluster`: what a platform engineer writes, and what they are told.

mod pool;
mod recovery;
mod spec;
mod status;

pub use pool::{Pool, PoolStorage, Threshold};
pub use recovery::{LastRequest, Recovery, RecoveryReport};
pub use spec::{
    ClientService, Driver, EngineReference, Failover, ReplicatedCluster, ReplicatedClusterSpec, Replication,
    ReplicationTarget, ServiceType,
};
pub use status::{Endpoint, FailureDomain, MemberLists, PoolStatus, ReplicatedClusterStatus};
