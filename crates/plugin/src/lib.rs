//! `kubectl muster`: what a person asks of Muster, at the keyboard.
//!
//! One file for each command under [`commands`]; what they share is how a cluster is reached ([`access`]), how things are
//! shown ([`print`]), how a person is asked ([`console`]), and how the program ends ([`error`]).

pub mod access;
pub mod arguments;
pub mod commands;
pub mod console;
pub mod error;
pub mod print;
pub mod program;
pub mod session;

pub use arguments::Arguments;
pub use session::Session;
