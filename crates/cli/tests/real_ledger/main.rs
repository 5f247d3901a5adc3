//! The ledger on `muster up`, with an operator that can be killed: see the suite.

#![cfg(test)]

#[path = "../suite/anyway_on_ledger.rs"]
mod anyway_on_ledger;
#[path = "../suite/on_ledger.rs"]
mod on_ledger;
#[path = "../suite/mod.rs"]
mod suite;

/// Where it all happens.
const KIND: suite::Kind = suite::Kind::Embedded;
/// What it happens to.
const SOFTWARE: suite::Software = suite::Software::Ledger;
