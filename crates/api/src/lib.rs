//! The kinds of `muster.dev/v1alpha1` and every name a user sees.
//!
//! Three kinds: [`ReplicatedCluster`] says what is wanted, [`Member`] is one replica of it, and
//! [`ReplicationEngine`] says how to run and drive one kind of software. Their doc comments are what
//! `kubectl explain` shows, so they are written for the person at the keyboard.
//!
//! Bounds live in [`limits`], CEL rules in [`rules`], so that the schema and the validation in Rust
//! share one source. [`crds()`] yields the manifests that are installed.

// The schema derive copies every struct, `pub` included, into a function body, where nothing can reach it.
#![allow(unreachable_pub)]
// Doc comments are read through `kubectl explain`, where backticks around every kind are noise.
#![allow(clippy::doc_markdown)]

pub mod cluster;
mod columns;
pub mod common;
pub mod crds;
pub mod engine;
pub mod limits;
pub mod member;
pub mod names;
pub mod quantity;
pub mod rules;
pub mod schema;
mod tolerant;

pub use cluster::{ReplicatedCluster, ReplicatedClusterSpec, ReplicatedClusterStatus};
pub use crds::crds;
pub use engine::{ReplicationEngine, ReplicationEngineSpec, ReplicationEngineStatus};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
pub use member::{Member, MemberSpec, MemberStatus};
pub use quantity::Quantity;
