//! The types of the built-in kinds, held against a real API server: its API description, and what it makes of objects
//! that are odd in every field.

#![cfg(test)]

mod bases;
mod binary;
mod catalogue;
mod described;
mod documents;
mod odd;
mod server;
