//! Services on our server in this process, with real sockets on loopback.
#![cfg(test)] // so that the lints for tests hold in helper functions too

#[path = "../stage/mod.rs"]
mod stage;

mod left_behind;
mod proxies;
mod slices;
