//! What is waited for, and whether it is so: a function of one look at a cluster.
//!
//! `status` speaks about a generation of the spec. Lower than the cluster's: the change was not seen yet. Higher: this
//! look is older than the status in it, so nothing can be said but "look again".

use std::fmt;
use std::str::FromStr;

use muster_api::names::{CLUSTER_CONDITIONS, ConditionType};
use muster_api::{Condition, ReplicatedCluster};

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The newest spec is live.
    Ready,
    /// A condition has this status, about the newest spec.
    Condition {
        /// Which.
        kind: ConditionType,
        /// `True`, `False` or `Unknown`.
        status: String,
    },
    /// The cluster is gone.
    Deleted,
}

/// What one look says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so; in words that follow the name.
    Met(String),
    /// It is not so yet, and why.
    NotYet(String),
    /// This look is too old to say.
    Stale(String),
    /// It cannot come any more, and why.
    Never(String),
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ready" => return Ok(Self::Ready),
            "deleted" | "delete" => return Ok(Self::Deleted),
            _ => {}
        }
        let wrong = || "use ready, condition=TYPE[=STATUS] or deleted".to_owned();
        let rest = text.strip_prefix("condition=").ok_or_else(wrong)?;
        let (name, status) = rest.split_once('=').unwrap_or((rest, "True"));
        let known = CLUSTER_CONDITIONS.iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name));
        let kind = *known.ok_or_else(|| {
            let all: Vec<&str> = CLUSTER_CONDITIONS.iter().map(|kind| kind.as_str()).collect();
            format!("a ReplicatedCluster has no condition {name:?}, but {}", all.join(", "))
        })?;
        let status =
            ["True", "False", "Unknown"].into_iter().find(|known| known.eq_ignore_ascii_case(status));
        let status =
            status.ok_or_else(|| "the status of a condition is True, False or Unknown".to_owned())?;
        Ok(Self::Condition { kind, status: status.to_owned() })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Condition { kind, status } => write!(f, "{kind}={status}"),
            Self::Deleted => f.write_str("deleted"),
        }
    }
}

impl Goal {
    /// What a look at the cluster says.
    pub fn judge(&self, cluster: &ReplicatedCluster) -> Verdict {
        let generation = cluster.metadata.generation.unwrap_or(0);
        let status = cluster.status.as_ref();
        let observed = status.and_then(|status| status.observed_generation);
        let conditions = status.map_or(&[][..], |status| &status.conditions);
        let deleting = cluster.metadata.deletion_timestamp.is_some();
        match self {
            Self::Deleted if deleting => Verdict::NotYet("it is being deleted".to_owned()),
            Self::Deleted => Verdict::NotYet("nobody deletes it".to_owned()),
            Self::Ready if deleting => Verdict::Never("is being deleted".to_owned()),
            Self::Ready => {
                if let Some(verdict) = about_another("status", observed, generation) {
                    return verdict;
                }
                let words = format!("is ready at generation {generation}");
                holds(conditions, ConditionType::Ready, "True", None, generation, words)
            }
            Self::Condition { kind, status } => {
                let words = format!("is {kind}={status} at generation {generation}");
                holds(conditions, *kind, status, observed, generation, words)
            }
        }
    }

    /// What it says that there is no such cluster.
    pub fn judge_absent(&self) -> Verdict {
        match self {
            Self::Deleted => Verdict::Met("does not exist".to_owned()),
            Self::Ready | Self::Condition { .. } => Verdict::Never("does not exist".to_owned()),
        }
    }

    /// What it says that the cluster that was there is gone.
    pub fn judge_deleted(&self) -> Verdict {
        match self {
            Self::Deleted => Verdict::Met("is deleted".to_owned()),
            Self::Ready | Self::Condition { .. } => Verdict::Never("was deleted meanwhile".to_owned()),
        }
    }
}

/// Whether a condition has this status, about this generation. `observed` is what a condition that names no generation
/// is about.
fn holds(
    conditions: &[Condition],
    kind: ConditionType,
    wanted: &str,
    observed: Option<i64>,
    generation: i64,
    words: String,
) -> Verdict {
    let Some(condition) = conditions.iter().find(|condition| condition.type_ == kind.as_str()) else {
        return Verdict::NotYet(format!("{kind} is not there yet"));
    };
    if let Some(verdict) =
        about_another(kind.as_str(), condition.observed_generation.or(observed), generation)
    {
        return verdict;
    }
    if condition.status == wanted {
        return Verdict::Met(words);
    }
    let Condition { status, reason, message, .. } = condition;
    let more = if message.is_empty() { String::new() } else { format!(": {message}") };
    Verdict::NotYet(format!("{kind} is {status} ({reason}){more}"))
}

fn about_another(what: &str, observed: Option<i64>, generation: i64) -> Option<Verdict> {
    let observed = observed.unwrap_or(0);
    if observed > generation {
        return Some(Verdict::Stale(format!(
            "{what} is about generation {observed}, and this look about {generation}"
        )));
    }
    (observed < generation).then(|| {
        Verdict::NotYet(format!("{what} is about generation {observed}, the spec is at {generation}"))
    })
}

#[cfg(test)]
mod tests;
