//! The leader's Lease in process: a server that fails as it is told, paused time, and several operators.

#![cfg(test)]

mod agents;
mod faults;
mod others;
mod process;
mod random;
mod stories;
mod world;
