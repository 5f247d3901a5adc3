//! The log on disk: every batch of changes is appended to the last of a row of segments and synced, and the oldest
//! segment is cleaned away when too little of the log is still true. `docs/decisions/0006-durable-store.md` has the
//! form of the files, and why.

mod checksum;
mod clean;
mod directory;
mod format;
mod log;
mod recover;

pub(super) use self::directory::Directory;
pub(super) use self::log::Log;

#[cfg(test)]
mod tests;
