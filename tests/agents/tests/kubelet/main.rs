//! A Kubernetes cluster in miniature on the embedded API server: stateful sets get Pods, Pods run agents, claims are bound.

#![cfg(test)]

mod scene;
mod workloads;
