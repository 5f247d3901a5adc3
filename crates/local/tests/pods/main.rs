//! Pods as real processes, on the embedded API server.

#![cfg(test)]

mod bench;
mod ends;
mod lives;
mod logs;
mod views;
