//! The server as tests of other crates use it: called by a `kube::Client`, without a socket.

#![cfg(test)]

mod approved;
mod concurrent;
mod faults;
mod interrupted;
mod logs;
mod objects;
mod overtaken;
mod protobuf;
mod repeated;
mod tables;
mod too_old;
mod widgets;
