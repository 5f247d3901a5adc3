//! Claims on our server in this process, with real directories, and with real filesystems when root.
#![cfg(test)] // so that the lints for tests hold in helper functions too

mod directories;
mod filesystems;
mod site;
#[path = "../stage/mod.rs"]
mod stage;
