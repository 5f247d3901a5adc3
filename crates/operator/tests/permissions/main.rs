//! What the operator may do, compared with what it does.

#![cfg(test)]

mod lives;
mod manifests;
