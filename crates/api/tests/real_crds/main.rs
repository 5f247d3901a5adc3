//! The CRDs on a real kube-apiserver: they install, every rule refuses what it should and nothing else, quantities
//! mean the same on both sides, and whatever the server lets into status can be read.
//!
//! Names start with `real_`, so that `--skip real_` leaves them out.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod case;
mod cluster;
mod cluster_bounds;
mod engine;
mod install;
mod member;
mod quantity;
mod server;
mod status;
