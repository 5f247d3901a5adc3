//! Every name that a user, a script or another controller can meet: the API group, labels, annotations,
//! finalizers, and the values that appear in status.

mod string_enum;

pub mod actions;
pub mod conditions;
pub mod metadata;
pub mod reasons;
pub mod states;

pub use actions::Action;
pub use conditions::{CLUSTER_CONDITIONS, ConditionType, MEMBER_CONDITIONS};
pub use metadata::*;
pub use reasons::Reason;
pub use states::{BlockedBy, MemberState, Phase, RecoveryState, RequestAction, RequestResult, Role};
pub use string_enum::UnknownName;
