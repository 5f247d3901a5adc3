//! What is done to clusters, a file for each idea.

mod copied;
mod filled;
mod frozen;
mod killed;
mod logs;
mod outages;
mod pauses;
mod power;
mod reborn;
mod restore;
mod rolled;
mod scaled;
mod two_primaries;
mod unblocked;
mod volumes;
