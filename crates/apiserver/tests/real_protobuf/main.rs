//! Objects in protobuf form, as the real server writes them: read here, they are what it writes as JSON.
#![cfg(test)] // so that the lints for tests hold in helper functions too

#[path = "../real_definitions/bases.rs"]
mod bases;
mod round_trip;
mod server;
