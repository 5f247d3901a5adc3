//! The ledger on a real kube-apiserver and kube-controller-manager, with `muster node` as the node: see the suite.

#![cfg(test)]

#[path = "../suite/mod.rs"]
mod suite;

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Real;
