//! Pods as real processes, on the embedded API server.

#![cfg(test)]

mod bench;
mod ends;
mod hangs;
mod lives;
mod logs;
mod views;
