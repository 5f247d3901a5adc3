//! Processes: how they are started so that they cannot outlive the agent unnoticed, listened to, signalled, and found again.
//!
//! Three things keep an agent from being wrong about what lives. A child asks the kernel to be killed when the agent ends (its death
//! signal). It holds a lock on the volume, which its own children inherit and which goes with the last of them. And its number and beginning are
//! on disk before its program starts. A death signal does not pass to grandchildren and is lost when a program changes its user; a lock can be given up
//! by a program that closes what it did not open. So a starting agent believes neither alone.

pub mod child;
pub mod leftovers;
pub mod lock;
pub mod output;
pub mod spawn;
pub mod table;
