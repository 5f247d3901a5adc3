//! The built `muster`, run as a person or a script runs it.

#![cfg(test)]

mod apiserver;
mod controllers;
mod killed;
mod muster;
mod operator;
mod refusals;
mod words;
