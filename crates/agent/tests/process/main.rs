//! The agent as a process of its own, with real children, reached over TLS by the operator's own client.

#![cfg(test)]

mod certificates;
mod clients;
mod commands;
mod devices;
mod disk;
mod engine;
mod gone;
mod killed;
mod life;
mod nonsense;
mod place;
mod program;
mod roles;
mod slow;
mod small;
