//! Bad input gets an answer that says what is wrong, and the server goes on.

#![cfg(test)]

mod harness;
mod oracle;
mod shapes;
