//! What is particular to Pods, Services, volumes, nodes and controllers, case by case beside a real kube-apiserver: the
//! same defaults, and the same refusals.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod compare;
mod controllers;
mod generated;
mod jobs;
mod pods;
mod random_changes;
mod server;
mod services;
mod storage;
mod template_cases;
