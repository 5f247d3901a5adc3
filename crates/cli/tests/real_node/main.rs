//! The ledger on a real kube-apiserver and kube-controller-manager, with `muster node` as the node: see the suite.

#![cfg(test)]

#[path = "../suite/on_ledger.rs"]
mod on_ledger;
#[path = "../suite/mod.rs"]
mod suite;

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Real;
/// What it happens to.
const SOFTWARE: suite::Software = suite::Software::Ledger;
