//! What only Galera can do, or have done to it: all of its members take writes, and each counts the others before it does.

pub(crate) mod components;
pub(crate) mod copied;
pub(crate) mod differs;
pub(crate) mod filled;
pub(crate) mod frozen;
pub(crate) mod quorum;
pub(crate) mod state;
pub(crate) mod switched;
