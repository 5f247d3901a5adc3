//! The plugin in process, against the embedded API server, with paused time and with faults: what kubectl adds to it is
//! tested elsewhere.

#![cfg(test)]

mod operator;
mod requests;
mod scene;
mod waiting;
