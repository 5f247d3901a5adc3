//! What a cluster costs: made, at rest, ten thousand at once; and that a life runs the same way each time.

#![cfg(test)]

mod costs;
mod idle;
mod repeat;
#[path = "../in_process/samples.rs"]
mod samples;
#[expect(dead_code, reason = "the tests of whole lives use more of it")]
#[path = "../in_process/world.rs"]
mod world;
