//! Whole clusters of simulated agents under the manager's decisions, over the wire: the fleet does what the rules need,
//! nothing acknowledged is lost, and the same seed gives the same run.

#![cfg(test)]

mod conductor;
mod histories;
