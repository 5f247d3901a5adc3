//! The node for one machine: Pods as supervised processes, and the few controllers that a cluster needs around them.
//!
//! ```text
//! Deployment ─▶ ReplicaSet ─▶ Pod ◀─ StatefulSet        workloads: what Kubernetes' controller manager does elsewhere
//! PersistentVolumeClaim ─▶ PersistentVolume             claims: a directory, or a filesystem of the asked size
//! Service + Pods ─▶ EndpointSlice ─▶ TCP proxies        services: cluster addresses on 127.0.0.0/8
//! Pod ─▶ node ─▶ sandbox ─▶ process                     pods: what a kubelet does elsewhere
//! ```
//!
//! Beside a real controller manager only the last line and the provisioning of volumes are this crate's work.

pub mod claims;
mod control;
pub mod logs;
pub mod machine;
pub mod node;
pub mod pods;
pub mod sandbox;
pub mod services;
pub mod workloads;

pub use self::control::Error;
