//! The same requests to this server and to a real kube-apiserver, and their answers compared. See `README.md`.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod case;
mod compare;
mod normal;
mod pending;
mod promise;
mod reference;
mod run;
mod servers;
mod suite;
mod target;
mod watch;
