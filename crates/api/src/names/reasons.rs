//! The reasons of every condition and Event, and of `status.reason`.

use super::string_enum::string_enum;

string_enum! {
    /// Why a condition has its status, in one word.
    pub enum Reason as "reason" {
        // Any condition.
        /// A new generation was seen, and is being applied.
        Reconciling = "Reconciling",
        /// It is as the spec asks.
        AsDesired = "AsDesired",
        /// What it depends on could not be observed.
        NotObserved = "NotObserved",
        /// The call that would have told failed.
        ObservationFailed = "ObservationFailed",
        /// Clustering is stopped by annotation, so nobody is looking.
        ClusteringStopped = "ClusteringStopped",
        /// Reconciliation is stopped by annotation.
        ReconciliationStopped = "ReconciliationStopped",
        /// All pools are at 0: members are stopped, data is kept.
        Parked = "Parked",
        /// The object is being deleted.
        Deleting = "Deleting",
        /// The operator just started and has not heard from everyone.
        Starting = "Starting",

        // SpecValid.
        /// Every check passed.
        Valid = "Valid",
        /// One or more checks failed; the message lists them all.
        Invalid = "Invalid",
        /// A referenced object could not be read.
        ReferenceUnreadable = "ReferenceUnreadable",
        /// The Member's cluster does not exist in its namespace.
        ClusterNotFound = "ClusterNotFound",
        /// Another operator owns this namespace.
        NamespaceOwned = "NamespaceOwned",

        // InfrastructureReady, StorageReady, WorkloadReady.
        /// An object with a wanted name belongs to someone else, and is never adopted.
        NameTaken = "NameTaken",
        /// The API server refuses an object that is wanted; the message says why.
        ApplyRefused = "ApplyRefused",
        /// A pool is not at its size.
        PoolNotAtSize = "PoolNotAtSize",
        /// A Member is not ready at its generation.
        MemberNotReady = "MemberNotReady",
        /// A driver is not rolled out.
        DriverNotReady = "DriverNotReady",
        /// The free storage of a pool is not known, because a member does not report.
        FreeStorageUnknown = "FreeStorageUnknown",
        /// A volume is not bound, or not yet as large as asked.
        VolumeNotReady = "VolumeNotReady",
        /// A volume claim that a Member names does not exist.
        VolumeNotFound = "VolumeNotFound",
        /// A device is missing, or is not part of the storage pool.
        DeviceNotReady = "DeviceNotReady",
        /// The workload does not run what was asked for yet.
        WorkloadNotReady = "WorkloadNotReady",
        /// The member runs on a host of its own; there is no workload to look at.
        External = "External",

        // ControlPlaneReady, Available, Healthy, AgentConnected, Joined.
        /// The cluster is being formed.
        Forming = "Forming",
        /// Members are joining.
        Joining = "Joining",
        /// Two views, or more primaries than wanted.
        SplitBrain = "SplitBrain",
        /// No member serves as primary.
        NoPrimary = "NoPrimary",
        /// Fewer primaries than wanted serve.
        TooFewPrimaries = "TooFewPrimaries",
        /// A primary serves in a term that is not the newest.
        StaleTerm = "StaleTerm",
        /// One or more agents do not report.
        AgentsUnreachable = "AgentsUnreachable",
        /// The agent reports.
        Connected = "Connected",
        /// The agent does not report.
        Disconnected = "Disconnected",
        /// It replicates with the others.
        Joined = "Joined",
        /// It is not part of replication now.
        NotJoined = "NotJoined",
        /// Clients are served.
        Serving = "Serving",
        /// Clients are not served.
        NotServing = "NotServing",
        /// One or more members have not caught up.
        NotSynced = "NotSynced",
        /// One or more members failed.
        MemberFailed = "MemberFailed",
        /// One or more members hold data that is not part of the primary's.
        MemberErrant = "MemberErrant",
        /// Volumes whose copies count are gone, and no write has enough of them until a person gives those up.
        VolumeLost = "VolumeLost",
        /// The member is stopped.
        Stopped = "Stopped",
        /// An action of the engine failed; the message has its last lines.
        ActionFailed = "ActionFailed",
        /// The member's process made no progress for the engine's stall timeout.
        Stalled = "Stalled",
        /// The member is disabled by its administrator.
        Disabled = "Disabled",

        // ClusteringActive, ReconciliationActive.
        /// It is running.
        Active = "Active",
        /// It is being stopped; a step is not finished yet.
        Stopping = "Stopping",

        // Recovering, ScalingUp, ScalingDown, RollingOut.
        /// It is not happening.
        Idle = "Idle",
        /// It is happening.
        InProgress = "InProgress",
        /// It waits for someone.
        Blocked = "Blocked",
        /// Some members run, none is primary.
        FailingOver = "FailingOver",
        /// No member runs and data exists.
        Outage = "Outage",
        /// No member could seed.
        NoSeed = "NoSeed",
        /// A member's `leave` action failed, so it stays.
        LeaveFailed = "LeaveFailed",
        /// A new member did not raise the free storage, so growth stopped.
        NoGain = "NoGain",
        /// The pool is at the most it may have.
        AtMaximum = "AtMaximum",
        /// Removing one more would make another threshold create one again.
        AtSize = "AtSize",

        // Events about requests and data.
        /// A request was accepted.
        RequestAccepted = "RequestAccepted",
        /// A request was refused.
        RequestRefused = "RequestRefused",
        /// A request was carried out.
        RequestDone = "RequestDone",
        /// A request failed.
        RequestFailed = "RequestFailed",
        /// A member was promoted or seeded where an acknowledged write may be lost.
        DataLossAllowed = "DataLossAllowed",
        /// Members were given up by a person's `restoreReplicas`.
        MembersGivenUp = "MembersGivenUp",
    }
}
