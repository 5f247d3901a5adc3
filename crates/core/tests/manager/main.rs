//! The manager's decisions on a simulated cluster: the traces that broke earlier rules, and random histories.

#![cfg(test)]

mod calm;
mod checks;
mod histories;
mod leader;
mod traces;
mod world;
