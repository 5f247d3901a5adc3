//! The built `muster`, run as a person or a script runs it.

#![cfg(test)]

mod apiserver;
mod muster;
mod refusals;
mod words;
