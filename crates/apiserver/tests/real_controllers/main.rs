//! The real kube-controller-manager on this server and on a real kube-apiserver: the same stories, and at every
//! milestone the same objects, status included.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod both;
mod kubelet;
mod normal;
mod plane;
#[path = "../controllers/stories.rs"]
mod stories;
#[path = "../controllers/world.rs"]
mod world;

mod collected;
mod daemons;
mod deployment;
mod jobs;
mod services;
mod stateful;
