//! Tables, discovery and reviews here and on a real kube-apiserver: the same documents.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod custom;
mod discovery;
mod kinds;
mod pods;
mod reviews;
mod server;
mod tables;
