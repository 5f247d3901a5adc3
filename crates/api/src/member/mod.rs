//! `Member`: one replica of a cluster, made from a pool or by hand.

mod spec;
mod status;

pub use spec::{Claim, DesiredState, External, Member, MemberSpec, MemberStorage, Workload};
pub use status::{Device, MemberStatus};
