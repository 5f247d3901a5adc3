//! What is particular to built-in kinds, here and on a real kube-apiserver: the same defaults, refusals and warnings.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod bench;
mod crds;
mod data;
mod events;
mod lives;
mod namespaces;
mod nearly;
mod network;
mod others;
mod rbac;
