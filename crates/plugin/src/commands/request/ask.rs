//! The command lines of the requests.

use clap::ArgGroup;
use muster_core::manager::requests::Ask;

use super::{Asks, Common};
use crate::error::EXIT_CODES;

/// Recover a cluster that cannot recover by itself
///
/// With a seed that you choose, or with fewer members than Muster waits for. It acts only on what you saw: if anything
/// about the recovery changed since, the request is refused.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES, group = ArgGroup::new("how").required(true).args(["seed", "replicas"]))]
pub struct Recover {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// The member whose data the cluster goes on with
    #[arg(long, value_name = "MEMBER")]
    seed: Option<String>,
    /// Even if its data is empty, incomplete, unreadable or of another history
    #[arg(long, requires = "seed", conflicts_with = "replicas")]
    accept_data_loss: bool,
    /// How many members have to be there
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    replicas: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// Make another member the primary, without losing anything
///
/// Waits until the target has all that the primary has; if it does not catch up, everything stays as it is.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Switchover {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// The member to become primary [default: the most advanced]
    #[arg(long, value_name = "MEMBER")]
    to: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Vouch that members do not run
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Fence {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// The members; all at once, as one fence is void after the next change
    #[arg(value_name = "MEMBER", required = true)]
    members: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// Give up members that are dead, and their data
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Forget {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// The members
    #[arg(value_name = "MEMBER", required = true)]
    members: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// Discard what an errant member holds, and copy it anew
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Rejoin {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// The member
    #[arg(value_name = "MEMBER")]
    member: String,
    /// Yes, discard its data
    #[arg(long, required = true)]
    discard: bool,
    #[command(flatten)]
    common: Common,
}

impl Asks for Recover {
    fn cluster(&self) -> &str {
        &self.name
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn ask(&self) -> Ask {
        Ask::Recover {
            seed: self.seed.clone(),
            accept_data_loss: self.accept_data_loss,
            replicas: self.replicas.and_then(|count| usize::try_from(count).ok()),
        }
    }
}

impl Asks for Switchover {
    fn cluster(&self) -> &str {
        &self.name
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn ask(&self) -> Ask {
        Ask::Switchover { to: self.to.clone() }
    }
}

impl Asks for Fence {
    fn cluster(&self) -> &str {
        &self.name
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn ask(&self) -> Ask {
        Ask::Fence { members: self.members.clone() }
    }
}

impl Asks for Forget {
    fn cluster(&self) -> &str {
        &self.name
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn ask(&self) -> Ask {
        Ask::Forget { members: self.members.clone() }
    }
}

impl Asks for Rejoin {
    fn cluster(&self) -> &str {
        &self.name
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn ask(&self) -> Ask {
        Ask::Rejoin { member: self.member.clone(), discard: self.discard }
    }
}
