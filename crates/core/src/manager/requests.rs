//! What a person asks for once (`kubectl muster recover`, `switchover`, `fence`, `forget`, `rejoin`): the annotation,
//! and whether it may be carried out.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a request may wait for the operator. Longer, and it might be carried out after the person has gone home.
pub const REQUEST_LIFETIME: SignedDuration = SignedDuration::from_mins(10);
/// How much the clocks of the person's machine and of the operator may differ.
pub const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(1);
/// The longest annotation that is read.
pub const MAX_REQUEST_BYTES: usize = 8192;
/// How long a planned switchover may wait for its target to catch up.
pub const SWITCHOVER_LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// The value of the annotation `muster.dev/request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// A random id, which `status.lastRequest` repeats.
    pub id: String,
    /// The uid of the cluster it was meant for.
    pub cluster_uid: String,
    /// The generation the person saw.
    pub generation: i64,
    /// After this it is refused.
    pub expires: Timestamp,
    /// `status.recovery.digest` as the person saw it; required for `recover` and `fence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What is asked for.
    #[serde(flatten)]
    pub ask: Ask,
}

/// What a person asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Ask {
    /// Recover, with this seed or with this count of members.
    Recover {
        /// Who seeds, or stays primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<String>,
        /// Whether an empty, incomplete, unreadable or foreign seed will do.
        #[serde(default)]
        accept_data_loss: bool,
        /// How many members have to be there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replicas: Option<usize>,
    },
    /// Make another member the primary.
    Switchover {
        /// Which one; none: the most advanced secondary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// These members do not run; the person vouches for it.
    Fence {
        /// Who. Several at once, because a fence given before another change has to be given again.
        members: Vec<String>,
    },
    /// These members are dead, and so is their data; or the volume that they had is.
    Forget {
        /// Who. Several at once, because one may be in the way of giving up the other.
        members: Vec<String>,
    },
    /// Throw away what this member holds and copy it anew.
    Rejoin {
        /// Who.
        member: String,
        /// Must be true: the word without which nothing is discarded.
        discard: bool,
    },
}

/// What the manager was told to do by an accepted request, until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Elect this member.
    Seed {
        /// Who.
        member: String,
        /// Whether an empty, incomplete, unreadable or foreign one will do.
        accept_data_loss: bool,
    },
    /// Make another member the primary.
    Switchover {
        /// Which one.
        to: Option<String>,
        /// Who was primary when it was asked for.
        from: String,
        /// Until when the target may catch up.
        deadline: Timestamp,
    },
    /// Take these members, or the volumes they had, out of the roster.
    Forget {
        /// Who.
        members: Vec<String>,
    },
    /// Copy this member anew.
    Rejoin {
        /// Who.
        member: String,
    },
}

/// How far an accepted request reaches: not beyond its own time, and not to what the person did not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mandate {
    /// After this it is not carried out any more.
    pub until: Timestamp,
    /// Who reported when it was made. A choice among data is void once someone else reports.
    pub heard: BTreeSet<String>,
}

/// What a request is held against.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The cluster's uid.
    pub cluster_uid: &'a str,
    /// The cluster's generation.
    pub generation: i64,
    /// The present time.
    pub now: Timestamp,
    /// The digest of `status.recovery` as it is; none while nothing is being recovered.
    pub digest: Option<&'a str>,
    /// Whether clustering is stopped.
    pub clustering_stopped: bool,
    /// The members that are configured or in the roster; none while nobody has looked yet.
    pub members: Option<&'a [&'a str]>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefusal {
    /// The annotation could not be understood.
    #[error("the annotation muster.dev/request could not be read: {0}; use kubectl muster to make requests")]
    Malformed(String),
    /// Another object of the same name.
    #[error("it was made for another cluster of this name (uid {0}), which was deleted since")]
    OtherCluster(String),
    /// The spec was edited since.
    #[error("it was made for generation {asked}, the cluster is at {now}: look again and repeat it")]
    OtherGeneration {
        /// The request's.
        asked: i64,
        /// The cluster's.
        now: i64,
    },
    /// It waited too long.
    #[error("it expired at {0}: look again and repeat it")]
    Expired(Timestamp),
    /// It would be valid for too long.
    #[error(
        "it expires at {0}, more than 10 minutes from now: check the clock of the machine it was made on"
    )]
    TooLong(Timestamp),
    /// What is being recovered changed since.
    #[error("the recovery changed since the person looked: look again (kubectl muster status) and repeat it")]
    OtherRecovery,
    /// Nothing is commanded while clustering is stopped.
    #[error("clustering is stopped: start it first (kubectl muster start clustering)")]
    ClusteringStopped,
    /// It came before anyone could know whom and what it is about.
    #[error("the operator has not heard the members yet: repeat it in a moment")]
    NotLookedYet,
    /// It names a member that there is not.
    #[error("there is no member {0} in this cluster")]
    NoSuchMember(String),
    /// There is no primary to switch over from.
    #[error("no member serves as primary: there is nothing to switch over from")]
    NoPrimary,
    /// It asks for nothing, or for two things.
    #[error(
        "recover takes either a seed or a count of at least 1, fence and forget at least one member, rejoin --discard"
    )]
    Incomplete,
}

/// What an accepted request leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// The manager gets a directive.
    Direct(Directive),
    /// These members are fenced by a person.
    Fence(Vec<String>),
    /// `restoreReplicas` is this, by a person.
    Restore(usize),
}

/// Reads the annotation.
pub fn parse(annotation: &str) -> Result<Request, RequestRefusal> {
    if annotation.len() > MAX_REQUEST_BYTES {
        return Err(RequestRefusal::Malformed(format!("it has more than {MAX_REQUEST_BYTES} bytes")));
    }
    serde_json::from_str(annotation).map_err(|error| RequestRefusal::Malformed(error.to_string()))
}

impl Request {
    /// Whether this may be carried out now, on what the person saw.
    pub fn judge(&self, now: &Circumstances<'_>, primary: Option<&str>) -> Result<Granted, RequestRefusal> {
        if self.cluster_uid != now.cluster_uid {
            return Err(RequestRefusal::OtherCluster(self.cluster_uid.clone()));
        }
        if now.clustering_stopped {
            return Err(RequestRefusal::ClusteringStopped);
        }
        if self.generation != now.generation {
            return Err(RequestRefusal::OtherGeneration { asked: self.generation, now: now.generation });
        }
        if self.expires <= now.now {
            return Err(RequestRefusal::Expired(self.expires));
        }
        if self.expires.duration_since(now.now) > REQUEST_LIFETIME + CLOCK_SKEW {
            return Err(RequestRefusal::TooLong(self.expires));
        }
        let members = now.members.ok_or(RequestRefusal::NotLookedYet)?;
        if matches!(self.ask, Ask::Recover { .. } | Ask::Fence { .. }) && self.digest.as_deref() != now.digest
        {
            return Err(RequestRefusal::OtherRecovery);
        }
        if let Some(stranger) = self.ask.names().find(|name| !members.contains(name)) {
            return Err(RequestRefusal::NoSuchMember(stranger.to_owned()));
        }
        self.ask.grant(now.now, primary)
    }
}

impl Ask {
    /// The members it names.
    fn names(&self) -> impl Iterator<Item = &str> {
        let (one, many): (Option<&String>, &[String]) = match self {
            Self::Recover { seed, .. } => (seed.as_ref(), &[]),
            Self::Switchover { to } => (to.as_ref(), &[]),
            Self::Fence { members } | Self::Forget { members } => (None, members),
            Self::Rejoin { member, .. } => (Some(member), &[]),
        };
        one.into_iter().chain(many).map(String::as_str)
    }

    fn grant(&self, now: Timestamp, primary: Option<&str>) -> Result<Granted, RequestRefusal> {
        Ok(match self.clone() {
            Self::Recover { seed: Some(member), accept_data_loss, replicas: None } => {
                Granted::Direct(Directive::Seed { member, accept_data_loss })
            }
            Self::Recover { seed: None, accept_data_loss: false, replicas: Some(replicas) }
                if replicas > 0 =>
            {
                Granted::Restore(replicas)
            }
            Self::Switchover { to } => {
                let from = primary.ok_or(RequestRefusal::NoPrimary)?.to_owned();
                Granted::Direct(Directive::Switchover { to, from, deadline: now + SWITCHOVER_LIMIT })
            }
            Self::Fence { members } if !members.is_empty() => Granted::Fence(members),
            Self::Forget { members } if !members.is_empty() => Granted::Direct(Directive::Forget { members }),
            Self::Rejoin { member, discard: true } => Granted::Direct(Directive::Rejoin { member }),
            Self::Recover { .. } | Self::Fence { .. } | Self::Forget { .. } | Self::Rejoin { .. } => {
                return Err(RequestRefusal::Incomplete);
            }
        })
    }
}

#[cfg(test)]
mod tests;
