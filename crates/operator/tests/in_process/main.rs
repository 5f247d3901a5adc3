//! The operator in process: against the embedded API server, with simulated agents, on paused time.

#![cfg(test)]

mod faults;
mod lives;
mod requests;
mod samples;
mod truth;
mod world;
