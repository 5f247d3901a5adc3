//! The ledger on `muster up`, with an operator that can be killed: see the suite.

#![cfg(test)]

#[path = "../suite/on_ledger.rs"]
mod on_ledger;
mod operators;
#[path = "../suite/mod.rs"]
mod suite;

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Embedded;
/// What it happens to.
const SOFTWARE: suite::Software = suite::Software::Ledger;
