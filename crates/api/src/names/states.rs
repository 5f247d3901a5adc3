//! The values of phase, role, state and the like, as they appear in status.

use super::string_enum::string_enum;

string_enum! {
    /// Where a `ReplicatedCluster` is, in one word. A function of its conditions, never an input.
    pub enum Phase as "phase" {
        /// It is being deleted.
        Deleting = "Deleting",
        /// Clustering or reconciliation is stopped by annotation.
        Paused = "Paused",
        /// No member could seed; a new report, a restarted Pod or a request starts over.
        Failed = "Failed",
        /// Replication is being restored.
        Recovering = "Recovering",
        /// It never formed, and its spec is not valid, or not yet known to be.
        Pending = "Pending",
        /// It never formed, and is being set up.
        Provisioning = "Provisioning",
        /// Clients are served and every member is in its role.
        Running = "Running",
        /// It works with less than asked for, or not at all.
        Degraded = "Degraded",
        /// All is in place, and clients are not served (parked).
        Provisioned = "Provisioned",
    }
}

string_enum! {
    /// What a member does for the cluster; the value of the Pod label `muster.dev/role`.
    pub enum Role as "role" {
        /// It serves writes.
        Primary = "primary",
        /// It follows a primary.
        Secondary = "secondary",
    }
}

string_enum! {
    /// `status.currentState` of a `Member`.
    pub enum MemberState as "member state" {
        /// It takes part in everything.
        Enabled = "Enabled",
        /// It keeps its role and is otherwise left alone.
        Disabled = "Disabled",
        /// It is being decommissioned, or goes with its cluster.
        Deleting = "Deleting",
    }
}

string_enum! {
    /// `status.recovery.state` of a `ReplicatedCluster`.
    pub enum RecoveryState as "recovery state" {
        /// Some members run, none is primary: the most advanced is to be promoted.
        FailingOver = "FailingOver",
        /// No member runs and data exists: the most advanced is to seed.
        Recovering = "Recovering",
        /// More than one primary or view was seen.
        SplitBrain = "SplitBrain",
        /// It waits for someone: `blockedBy` says why, `unblock` what would end it.
        Blocked = "Blocked",
        /// No member could seed.
        NoSeed = "NoSeed",
    }
}

string_enum! {
    /// `status.recovery.blockedBy` of a `ReplicatedCluster`: what recovery waits for.
    pub enum BlockedBy as "reason for being blocked" {
        /// A member of the roster is not accounted for: it may still be serving.
        MemberMissing = "MemberMissing",
        /// Too few copies are readable to be sure that no acknowledged write is lost.
        DataMissing = "DataMissing",
        /// A person set `restoreReplicas` above the configured count.
        RestoreReplicas = "RestoreReplicas",
        /// The data found has more than one history.
        HistoryDiffers = "HistoryDiffers",
        /// Two primaries cannot be told apart by their terms.
        EqualTerms = "EqualTerms",
        /// The most advanced member is disabled.
        MemberDisabled = "MemberDisabled",
        /// It is not known whether a seed that was started has stopped.
        SeedUnconfirmed = "SeedUnconfirmed",
        /// The cluster was formed once, and every member is empty now.
        AllEmpty = "AllEmpty",
    }
}

string_enum! {
    /// What a person can ask for once, through the annotation `muster.dev/request`.
    pub enum RequestAction as "request" {
        /// Recover with a seed, or a count, that a person chose.
        Recover = "recover",
        /// Make another member the primary.
        Switchover = "switchover",
        /// A person vouches that a member does not run.
        Fence = "fence",
        /// Give up a dead member and its data.
        Forget = "forget",
        /// Discard an errant member's data and copy it anew.
        Rejoin = "rejoin",
    }
}

string_enum! {
    /// `status.lastRequest.result` of a `ReplicatedCluster`.
    pub enum RequestResult as "result of a request" {
        /// It was taken up and is being carried out.
        Accepted = "Accepted",
        /// It was not carried out; the message says why.
        Refused = "Refused",
        /// It was carried out.
        Done = "Done",
        /// It was begun and did not succeed; the message says where it stands.
        Failed = "Failed",
    }
}
