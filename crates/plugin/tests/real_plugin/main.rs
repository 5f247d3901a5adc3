//! Every command through the real kubectl, against our server and a real kube-apiserver; the test plays the operator.

#![cfg(test)]

mod completion;
mod look;
mod member;
mod pause;
mod plan;
mod requests;
mod servers;
mod stage;
mod validate;
mod wait;
