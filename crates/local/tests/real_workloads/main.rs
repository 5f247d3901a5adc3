//! The real controller manager on a real API server, and ours on our server: the same stories, and at every milestone the
//! same objects, status included.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod both;
mod claims;
mod deployment;
mod slices;
#[path = "../stage/mod.rs"]
mod stage;
mod stateful;
