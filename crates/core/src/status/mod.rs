//! The assembly of a whole status from what was observed (DESIGN, sections 4, 5 and 7).
//!
//! In reading order: [`inputs`] is all that a cluster's status may be made of; [`view`] asks the manager's knowledge
//! what each member does; one file for each condition or family of conditions finds out whether it is so; [`cluster`]
//! puts them together into a verdict, which never sees the stored status; [`carry_over`] lays the verdict over what is
//! stored; [`write`](mod@write) says whether that needs writing. [`member`] does the same for a Member.

mod availability;
pub mod carry_over;
pub mod cluster;
mod control_plane;
mod failure;
mod health;
mod infrastructure;
pub mod inputs;
pub mod member;
mod members;
mod pools;
mod progress;
pub mod recovery;
mod sizing;
mod text;
pub mod view;
pub mod write;

pub use cluster::{ClusterVerdict, judge_cluster};
pub use inputs::{
    ClusterInputs, Clustering, EngineFacts, Judged, MemberSeen, MemberTruths, Object, PoolSeen, Rollout,
    ServiceSeen, Sizing, StoredGates,
};
pub use member::{MemberInputs, MemberVerdict, judge_member};
pub use view::{Leader, Part, Picture, View};
pub use write::{Conflict, Snapshot, on_conflict};

#[cfg(test)]
mod tests;
