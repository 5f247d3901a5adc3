//! Which Lease, under which name, and how fast.

use std::time::Duration;

use muster_api::names::OPERATOR_NAMESPACE;
use rand::Rng;

/// Between two renewals, and between two looks of those who wait: five tries fit into [`RENEW_DEADLINE`].
pub const RENEW_PERIOD: Duration = Duration::from_secs(2);
/// How long a mandate lasts, from before the last renewal that was answered was sent.
pub const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How long others wait for a Lease that does not change; half as long again as the deadline, for clocks that do not run equally fast.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// One call; two tries that hang fit into [`RENEW_DEADLINE`]. The client's own retries take minutes.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long work may take to end when a mandate has ended. Then something hangs, and only a new process helps.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// How fast. The default is right everywhere but in tests on a real server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub(super) period: Duration,
    pub(super) deadline: Duration,
    pub(super) duration: Duration,
}

/// With such times there could be two leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the period must be at most half of the deadline, and the deadline at most two thirds of the duration"
)]
pub struct BadTiming;

impl Timing {
    /// Other times than the default.
    pub fn new(period: Duration, deadline: Duration, duration: Duration) -> Result<Self, BadTiming> {
        let in_order = period * 2 <= deadline && deadline * 3 <= duration * 2;
        if in_order && !period.is_zero() { Ok(Self { period, deadline, duration }) } else { Err(BadTiming) }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self { period: RENEW_PERIOD, deadline: RENEW_DEADLINE, duration: LEASE_DURATION }
    }
}

/// The name of one process in the Lease. No two processes ever have the same, not even on the same host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(String);

/// Longest part of an identity that says where the process runs: what a host name may have.
const PLACE_MAX: usize = 64;

impl Identity {
    /// A name that never was; `place` (a Pod's or host's name) is for people to read.
    pub fn fresh(place: &str, chance: &mut impl Rng) -> Self {
        let place: String = place.chars().take(PLACE_MAX).collect();
        Self(format!("{place}_{:032x}", chance.random::<u128>()))
    }

    /// As the Lease has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which Lease, and for whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the Lease is.
    pub namespace: String,
    /// Who takes it.
    pub identity: Identity,
    /// How fast.
    pub timing: Timing,
    /// The caller has just made this API server's store, so that nobody can be leader: a Lease that is not there is taken
    /// at once. Never true of a server that was there before.
    pub new_store: bool,
}

impl Options {
    /// For an operator of this namespace, or of all of them.
    pub fn new(namespace: Option<&str>, identity: Identity) -> Self {
        let namespace = namespace.unwrap_or(OPERATOR_NAMESPACE).to_owned();
        Self { namespace, identity, timing: Timing::default(), new_store: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_allow_two_leaders_are_refused() {
        let seconds = Duration::from_secs;
        assert_eq!(Timing::new(RENEW_PERIOD, RENEW_DEADLINE, LEASE_DURATION), Ok(Timing::default()));
        for (period, deadline, duration) in [(2, 10, 10), (2, 10, 14), (6, 10, 15), (0, 10, 15)] {
            assert_eq!(Timing::new(seconds(period), seconds(deadline), seconds(duration)), Err(BadTiming));
        }
    }

    #[test]
    fn no_two_processes_have_the_same_name() {
        let mut chance = rand::rng();
        let [one, other] = [0, 1].map(|_| Identity::fresh("node-1", &mut chance));
        assert!(one != other && one.as_str().starts_with("node-1_"));
        assert!(Identity::fresh(&"é".repeat(1_000), &mut chance).as_str().chars().count() < 100);
    }

    #[test]
    fn an_operator_of_all_namespaces_has_its_lease_in_its_own() {
        let identity = Identity::fresh("x", &mut rand::rng());
        assert_eq!(Options::new(None, identity.clone()).namespace, "muster-system");
        assert_eq!(Options::new(Some("shop"), identity).namespace, "shop");
    }
}
