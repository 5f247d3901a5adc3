//! The operator in process: against the embedded API server, with simulated agents, on paused time.

#![cfg(test)]

mod certificates;
mod drivers;
mod edits;
mod failing;
mod faults;
mod help;
mod hostile;
mod labels;
mod lives;
mod logs;
mod members;
mod missed;
mod news;
mod pools;
mod r0;
mod r1;
mod r3;
mod r4;
mod requests;
mod restarts;
mod roles;
mod rolls;
mod samples;
mod stopping;
mod taken;
mod troubled;
mod truth;
mod unapplied;
mod unseen;
mod waits;
#[expect(dead_code, reason = "the trace is kept by the test that a life runs the same way each time")]
mod world;

/// A third of what thousands of changes cost is to allocate and to free: this one is the quicker at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
