//! A Kubernetes API server in Rust, small enough to embed and true enough for `kubectl`.

pub mod apply;
pub mod controllers;
pub mod discovery;
pub mod error;
mod go;
pub mod kind;
pub mod lifecycle;
pub mod metrics;
pub mod openapi;
pub mod protobuf;
pub mod registry;
pub mod request;
pub mod reviews;
pub mod schema;
pub mod serve;
pub mod server;
pub mod store;
pub mod table;
pub mod watch;
