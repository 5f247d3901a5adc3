//! The whole operator on a real kube-apiserver: under exactly its role, with the real controllers, and against people.

#![cfg(test)]

#[path = "../in_process/edits.rs"]
mod edits;
mod fights;
mod generations;
mod leaders;
mod roles;
mod scene;
mod swaps;
mod waits;
