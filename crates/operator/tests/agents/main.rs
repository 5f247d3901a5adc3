//! The operator's client of agents against simulated ones, on paused time.

#![cfg(test)]

mod calls;
mod scene;
mod sockets;
mod watches;
