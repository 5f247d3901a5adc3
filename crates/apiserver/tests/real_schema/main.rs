//! Schemas here and on a real kube-apiserver: both accept and refuse the same, in the same words.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod crds;
mod expressions;
mod formats;
mod generate;
mod objects;
mod ours;
mod probes;
mod rule_probes;
mod rules;
mod server;
mod updates;
