//! The actions by which an engine drives its software.

use super::string_enum::string_enum;

string_enum! {
    /// One action of an engine, by its name in `ReplicationEngine.spec.actions`.
    pub enum Action as "action" {
        /// Prints what the stopped member holds.
        Sequence = "sequence",
        /// Starts the first member of a new or recovered cluster.
        Seed = "seed",
        /// Starts a member as primary.
        Primary = "primary",
        /// Starts a member as secondary.
        Secondary = "secondary",
        /// Tells what the running member does.
        Status = "status",
        /// Stops it cleanly.
        Stop = "stop",
        /// Makes a running secondary primary.
        Promote = "promote",
        /// Makes a running primary secondary.
        Demote = "demote",
        /// Re-forms a cluster whose members all live and have no quorum.
        Bootstrap = "bootstrap",
        /// Makes the member known to the software.
        Join = "join",
        /// Moves data away and takes the member out.
        Leave = "leave",
        /// Prints the free storage of the member.
        FreeStorage = "freeStorage",
        /// Prints the storage devices of the member.
        Devices = "devices",
        /// Makes an available device part of the storage pool.
        AddDevice = "addDevice",
    }
}

impl Action {
    /// Whether it starts the application: a foreground process that the agent supervises.
    pub const fn starts(self) -> bool {
        matches!(self, Self::Seed | Self::Primary | Self::Secondary)
    }
}
