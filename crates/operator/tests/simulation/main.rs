//! The operator through everything that can go wrong: each write and command of each life of a cluster in every way, and
//! hours of happenings by chance. An oracle looks at everything that is written, the moment it is written, and at what has
//! become untrue of it.
//!
//! `MUSTER_SIMULATION=all` runs all of it; else it is a sample. `MUSTER_SIMULATION=<what a failure printed>` runs that one
//! alone.

#![cfg(test)]

mod claims;
mod cores;
mod end;
mod fight;
mod happenings;
mod help;
mod kinds;
mod lives;
mod matrix;
mod oracle;
mod people;
mod planted;
mod random;
mod roles;
mod samples;
mod stored;
mod troubles;
mod truth;
mod untold;
mod wire;
mod world;

/// A quarter of what a simulated hour costs is to allocate and to free: this one is the quicker at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
