//! What was said and has become untrue. Nobody knows at once, so each claim has a time in which it is to be taken back; the
//! time begins when it is found to be untrue, at a change of anything, and ends when it is true again or not said any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::roles;
use super::stored::{MEMBERS, PODS, Stored, says_ready};
use super::truth::{Lack, Truth, is_to_be_parked};

/// How long a claim may outlive the truth where nothing is in the way: DESIGN section 4 gives the writer a second.
pub(crate) const TAKEN_BACK: Duration = Duration::from_secs(1);
/// How often it is looked whether claims are true while all of them were: one that is untrue for less is over before anyone
/// could take it back.
const LOOK_APART: Duration = Duration::from_millis(100);

/// What is claimed, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// The cluster is Ready.
    Cluster,
    /// This Member is Ready.
    Member(String),
    /// This member is what its Pod says to clients.
    Role(String),
}

/// The claims that there are, and since when some of them are untrue.
#[derive(Default)]
pub(crate) struct Claims {
    made: BTreeSet<Claim>,
    untrue: BTreeMap<Claim, Instant>,
    looked: Option<Instant>,
}

impl Claims {
    fn set(&mut self, claim: Claim, made: bool) {
        if made {
            self.made.insert(claim);
        } else {
            self.made.remove(&claim);
            self.untrue.remove(&claim);
        }
    }

    /// The cluster is stored like this.
    pub(crate) fn cluster(&mut self, cluster: Option<&Value>) {
        self.set(Claim::Cluster, cluster.is_some_and(says_ready));
    }

    /// Another object is stored like this. True: it matters whether claims are true.
    pub(crate) fn object(&mut self, resource: &str, of: &str, stored: &Stored) -> bool {
        match resource {
            MEMBERS => {
                let ready = stored.get(resource, of).is_some_and(says_ready);
                self.set(Claim::Member(of.to_owned()), ready);
            }
            PODS => {
                let member = of.strip_suffix("-0").unwrap_or(of).to_owned();
                self.set(Claim::Role(member), stored.get(resource, of).and_then(roles::role).is_some());
            }
            _ => {}
        }
        resource == MEMBERS || resource == PODS || resource.starts_with("apps/")
    }

    /// What was said too long ago, and is not so: `excused` is until when nobody could know, `slow` how much longer than usual
    /// everything takes.
    pub(crate) fn outlived<'a>(
        &mut self,
        truth: impl FnOnce() -> Truth<'a>,
        cluster: Option<&Value>,
        excused: Option<Instant>,
        slow: Duration,
    ) -> Vec<String> {
        let now = Instant::now();
        let recently = self.looked.is_some_and(|looked| now < looked + LOOK_APART);
        if self.made.is_empty() || (recently && self.untrue.is_empty()) {
            return Vec::new();
        }
        self.looked = Some(now);
        let Some(cluster) = cluster else {
            self.untrue.clear();
            return Vec::new();
        };
        let truth = truth();
        let (mut outlived, mut told) = (Vec::new(), Vec::new());
        for claim in &self.made {
            let Some(why) = claim.untrue(&truth, cluster) else {
                self.untrue.remove(claim);
                continue;
            };
            let since = *self.untrue.entry(claim.clone()).or_insert(now);
            let until = excused.map_or(since, |excused| excused.max(since)) + TAKEN_BACK + slow;
            if now > until {
                outlived.push(format!("{claim:?} is claimed for {:?} though {why}", now - since));
                told.push(claim.clone());
            }
        }
        // Once is enough.
        for claim in told {
            self.set(claim, false);
        }
        outlived
    }
}

impl Claim {
    /// Why it is not so.
    fn untrue(&self, truth: &Truth<'_>, cluster: &Value) -> Option<String> {
        let joined = |lacks: Vec<Lack>| {
            let lacks: Vec<String> = lacks.into_iter().map(|lack| lack.what).collect();
            (!lacks.is_empty()).then(|| lacks.join("; "))
        };
        match self {
            Self::Cluster => joined(truth.lacks(cluster)),
            Self::Member(_) if is_to_be_parked(cluster) => None,
            Self::Member(member) => joined(truth.lacks_of_member(truth.stored.get(MEMBERS, member)?)),
            // Without a manager nobody gives roles, or takes them back.
            Self::Role(_) if is_stopped(cluster, "clustering") => None,
            Self::Role(member) => truth.misled(member),
        }
    }
}

/// Whether a person stopped this.
pub(crate) fn is_stopped(cluster: &Value, what: &str) -> bool {
    cluster["metadata"]["annotations"][format!("muster.dev/{what}-stopped")] == "true"
}
