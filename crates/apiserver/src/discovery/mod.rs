//! What clients ask before anything else: which groups, versions and resources there are, and whether the server is
//! well. Pure functions of what is served.

mod aggregated;
mod classic;
mod hash;
mod health;
mod order;
mod served;
mod version;

pub use aggregated::{Aggregated, MEDIA_TYPE, aggregated};
pub use classic::{core_versions, group, groups, paths, resources};
pub use health::{Check, Health, Probe, checks, health};
pub(crate) use order::by_version;
pub use served::{Part, Served};
pub use version::version;

#[cfg(test)]
mod tests;
