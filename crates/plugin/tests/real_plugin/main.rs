//! Every command through the real kubectl, against our server and a real kube-apiserver; the test plays the operator, and where it matters what comes of
//! it (`operated`), a real one is at work.

#![cfg(test)]

mod completion;
mod forms;
mod look;
mod member;
mod operated;
mod pause;
mod plan;
mod requests;
mod servers;
mod stage;
mod validate;
mod wait;
