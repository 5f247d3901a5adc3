//! Patches and server-side apply, step by step beside a real kube-apiserver: the same object, owners and refusals.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod built_in;
mod kinds;
mod model;
mod own_kinds;
mod random;
mod scale;
mod sequence;
mod server;
