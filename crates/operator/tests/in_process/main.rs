//! The operator in process: against the embedded API server, with simulated agents, on paused time.

#![cfg(test)]

mod drivers;
mod edits;
mod faults;
mod help;
mod hostile;
mod lives;
mod logs;
mod members;
mod news;
mod pools;
mod r0;
mod r1;
mod r3;
mod r4;
mod requests;
mod roles;
mod samples;
mod taken;
mod troubled;
mod truth;
mod waits;
#[expect(dead_code, reason = "the trace is kept by the test that a life runs the same way each time")]
mod world;
