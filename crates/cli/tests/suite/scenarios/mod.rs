//! What is done to clusters, a file for each idea. Each is handed a cluster that is Ready, and leaves it so.

pub(crate) mod copied;
pub(crate) mod filled;
pub(crate) mod frozen;
pub(crate) mod galera;
pub(crate) mod killed;
pub(crate) mod logs;
pub(crate) mod outages;
pub(crate) mod pauses;
pub(crate) mod power;
pub(crate) mod reborn;
pub(crate) mod restore;
pub(crate) mod rolled;
pub(crate) mod rotated;
pub(crate) mod scaled;
pub(crate) mod two_primaries;
pub(crate) mod unblocked;
pub(crate) mod volumes;
