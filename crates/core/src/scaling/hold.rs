//! Why a pool is left as it is, in words for conditions.

use muster_api::names::Reason;

use crate::conditions;

/// Why nothing is done with a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It has the size it should have.
    AtSize,
    /// All pools are at 0: every member stays and stops.
    Parked,
    /// A change is under way: these members have not joined yet.
    Joining(Vec<String>),
    /// A change is under way: this member is on its way out.
    Leaving(String),
    /// These enabled members do not report their free storage.
    FreeUnknown(Vec<String>),
    /// These members' reports are older than the last change.
    AwaitingReports(Vec<String>),
    /// More storage is wanted, but the pool has as many members as it may.
    AtMaximum {
        /// `maxNodes`, or [`super::GROWTH_LIMIT`].
        limit: u32,
    },
    /// The cluster has as many members as it may.
    ClusterFull,
    /// This member joined and brought next to nothing, so another would not help.
    NoGain(String),
    /// Less storage is wanted, but without this member the pool would grow again, or its data would not fit.
    WouldGrowAgain(String),
    /// A member should go, but none may: each is disabled, made by hand or the last holder of data.
    NobodyMayGo,
}

impl Hold {
    /// The reason, in one word.
    pub fn reason(&self) -> Reason {
        match self {
            Self::AtSize | Self::WouldGrowAgain(_) => Reason::AtSize,
            Self::Parked => Reason::Parked,
            Self::Joining(_) => Reason::Joining,
            Self::Leaving(_) | Self::AwaitingReports(_) => Reason::InProgress,
            Self::FreeUnknown(_) => Reason::FreeStorageUnknown,
            Self::AtMaximum { .. } | Self::ClusterFull => Reason::AtMaximum,
            Self::NoGain(_) => Reason::NoGain,
            Self::NobodyMayGo => Reason::Blocked,
        }
    }

    /// The reason, for a person.
    pub fn message(&self) -> String {
        match self {
            Self::AtSize => "at size".to_owned(),
            Self::Parked => "all pools are at 0: members and volumes stay, applications stop".to_owned(),
            Self::Joining(members) => format!("waiting for {} to join", conditions::names(members)),
            Self::Leaving(member) => format!("waiting for {member} to leave"),
            Self::FreeUnknown(members) => {
                format!("free storage unknown: {} cannot report it", conditions::names(members))
            }
            Self::AwaitingReports(members) => {
                format!(
                    "waiting for free storage reports newer than the last change from {}",
                    conditions::names(members)
                )
            }
            Self::AtMaximum { limit } => {
                format!("more free storage is wanted, but {limit} members is the most")
            }
            Self::ClusterFull => format!("a cluster has at most {} members", super::MEMBER_LIMIT),
            Self::NoGain(member) => {
                format!(
                    "{member} raised the free storage by less than a tenth of its capacity; more members would not help"
                )
            }
            Self::WouldGrowAgain(member) => {
                format!(
                    "more storage is free than wanted, but without {member} the pool would have to grow again"
                )
            }
            Self::NobodyMayGo => {
                "a member should go, but each is disabled, or the last that holds the data".to_owned()
            }
        }
    }
}
