//! Bad input gets an answer that says what is wrong, and the server goes on.

#![cfg(test)]

mod harness;
mod huge;
mod oracle;
mod shapes;
