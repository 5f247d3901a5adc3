//! What a running ledger says of itself, in the words of an engine's `status`.

use serde::{Deserialize, Serialize};

use super::{Node, Role};

/// What it is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Activity {
    /// It has not reached its primary, or lacks what that has.
    Joining,
    /// It feeds a follower that is behind.
    Donor,
    /// It does what its role asks.
    Serving,
}

/// Its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The role it runs in; by this `status` exits with 8 or 0.
    pub role: Role,
    /// What it is busy with.
    pub state: Activity,
    /// Which log it holds; none before the first frame came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
    /// The last entry on disk.
    pub sequence: u64,
    /// For how long it has not had all that the primary has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_seconds: Option<u64>,
    /// Whether it has all that the primary has.
    pub synced: bool,
    /// Moves while there is progress.
    pub progress: u64,
    /// What a person might want to know.
    pub message: String,
}

impl Node {
    /// What it says of itself now.
    pub fn status(&self) -> Status {
        let state = self.lock();
        let sequence = state.sequence();
        let (activity, synced, lag_seconds, message) = match state.role {
            Role::Primary => {
                let behind = state.followers.values().any(|follower| follower.sequence < sequence);
                let needed = state.electorate.copies.max(1);
                let voters = &state.electorate.voters;
                let here = voters
                    .iter()
                    .filter(|voter| **voter == self.told.volume || state.followers.contains_key(*voter));
                let here = here.count();
                let short =
                    format!("{here} of {needed} needed voters are here: entries are not acknowledged");
                let message = if here < needed { short } else { String::new() };
                (if behind { Activity::Donor } else { Activity::Serving }, true, None, message)
            }
            Role::Secondary => {
                let heard = &state.primary;
                let synced = heard.lately() && state.log.is_some() && sequence >= heard.sequence;
                let lag = if synced { Some(0) } else { heard.caught_up.map(|at| at.elapsed().as_secs()) };
                (
                    if synced { Activity::Serving } else { Activity::Joining },
                    synced,
                    lag,
                    heard.trouble.clone(),
                )
            }
        };
        let history = state.log.as_ref().map(|log| log.position().history.to_string());
        let (role, progress) = (state.role, sequence);
        Status { role, state: activity, history, sequence, lag_seconds, synced, progress, message }
    }
}
