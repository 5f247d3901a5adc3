//! The Lease as it is read and written.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use muster_api::names::{ANNOTATION_EPOCH, LEASE_NAME};
use tokio::time::Instant;

use super::epoch::Epoch;
use super::options::{Identity, Options};

/// The duration of a Lease that its holder released: the least that the API server takes.
const RELEASED_SECONDS: i32 = 1;
/// The longest duration in a Lease that is believed: an operator of another version may want more than we do, but not this.
const LONGEST_DURATION: Duration = Duration::from_secs(300);

/// The Lease, and when it was seen so.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) lease: Lease,
    /// When the answer was there: not before the Lease was so.
    pub(super) at: Instant,
}

impl Sight {
    pub(super) fn uid(&self) -> &str {
        self.lease.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(super) fn version(&self) -> &str {
        self.lease.metadata.resource_version.as_deref().unwrap_or_default()
    }

    /// The holder; none when nobody is named.
    pub(super) fn holder(&self) -> Option<&str> {
        self.spec()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }

    pub(super) fn is_held_by(&self, identity: &Identity) -> bool {
        self.holder() == Some(identity.as_str())
    }

    /// Whether its holder gave it back, after all its work had ended.
    pub(super) fn is_released(&self) -> bool {
        self.holder().is_none() && self.seconds() == Some(RELEASED_SECONDS)
    }

    /// How long its holder may go on without renewing it, as far as it says so.
    pub(super) fn stated_duration(&self) -> Duration {
        let seconds = self.seconds().and_then(|seconds| u64::try_from(seconds).ok());
        Duration::from_secs(seconds.unwrap_or(0)).min(LONGEST_DURATION)
    }

    /// The epoch as it is written.
    pub(super) fn epoch(&self) -> Option<&str> {
        self.lease.metadata.annotations.as_ref()?.get(ANNOTATION_EPOCH).map(String::as_str)
    }

    fn spec(&self) -> Option<&LeaseSpec> {
        self.lease.spec.as_ref()
    }

    fn seconds(&self) -> Option<i32> {
        self.spec()?.lease_duration_seconds
    }
}

/// A Lease that is not there yet, for us.
pub(super) fn created(options: &Options, epoch: Epoch, now: Timestamp) -> Lease {
    let metadata = ObjectMeta {
        name: Some(LEASE_NAME.to_owned()),
        namespace: Some(options.namespace.clone()),
        ..ObjectMeta::default()
    };
    taken(&Lease { metadata, spec: None }, options, epoch, now)
}

/// The same Lease, taken by us under a new epoch.
pub(super) fn taken(found: &Lease, options: &Options, epoch: Epoch, now: Timestamp) -> Lease {
    let mut lease = found.clone();
    let annotations = lease.metadata.annotations.get_or_insert_with(BTreeMap::new);
    annotations.insert(ANNOTATION_EPOCH.to_owned(), epoch.to_string());
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    let identity = options.identity.as_str();
    if spec.holder_identity.as_deref() != Some(identity) {
        let transitions = spec.lease_transitions.unwrap_or(0).max(0);
        spec.lease_transitions = Some(transitions.saturating_add(1));
    }
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = Some(whole_seconds(options.timing.duration));
    let time = other_than(spec.renew_time.as_ref(), now);
    (spec.acquire_time, spec.renew_time) = (Some(time.clone()), Some(time));
    lease
}

/// The same Lease, renewed.
pub(super) fn renewed(held: &Lease, now: Timestamp) -> Lease {
    let mut lease = held.clone();
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    spec.renew_time = Some(other_than(spec.renew_time.as_ref(), now));
    lease
}

/// The same Lease, given back. Its epoch stays: the next one goes above it.
pub(super) fn released(held: &Lease, now: Timestamp) -> Lease {
    let mut lease = renewed(held, now);
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(RELEASED_SECONDS);
    lease
}

/// The API server takes a write that changes nothing for none, and then nobody would see that we live. So the time differs,
/// whatever the clock says.
fn other_than(before: Option<&MicroTime>, now: Timestamp) -> MicroTime {
    let micros = now.as_microsecond();
    let same = before.is_some_and(|before| before.0.as_microsecond() == micros);
    MicroTime(Timestamp::from_microsecond(micros + i64::from(same)).unwrap_or(now))
}

fn whole_seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis().div_ceil(1_000)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options::new(None, Identity::fresh("x", &mut rand::rng()))
    }

    fn sight(lease: Lease) -> Sight {
        Sight { lease, at: Instant::now() }
    }

    #[test]
    fn a_renewal_changes_the_lease_even_if_the_clock_stands_still() {
        let now = Timestamp::from_second(1_000).unwrap();
        let first = created(&options(), 7, now);
        let second = renewed(&first, now);
        assert_ne!(first, second);
        assert_ne!(renewed(&second, now), second);
        let nearly = Timestamp::new(1_000, 400).unwrap();
        assert_ne!(renewed(&first, nearly).spec, first.spec, "less than what a Lease can show");
    }

    #[test]
    fn only_a_released_lease_is_free() {
        let now = Timestamp::from_second(1_000).unwrap();
        let options = options();
        let held = created(&options, 7, now);
        assert!(sight(held.clone()).is_held_by(&options.identity) && !sight(held.clone()).is_released());
        let given_back = sight(released(&held, now));
        assert!(given_back.is_released() && given_back.holder().is_none());
        assert_eq!(given_back.epoch(), Some("7"));
        let mut emptied = held;
        emptied.spec.as_mut().unwrap().holder_identity = Some(String::new());
        assert!(!sight(emptied.clone()).is_released(), "by a person, under a leader that does not know");
        emptied.spec = None;
        assert!(!sight(emptied).is_released());
    }

    #[test]
    fn another_version_may_ask_for_more_time_but_not_for_ever() {
        let mut lease = created(&options(), 7, Timestamp::UNIX_EPOCH);
        for (stated, expected) in [(15, 15), (30, 30), (i32::MAX, 300), (-1, 0)] {
            lease.spec.as_mut().unwrap().lease_duration_seconds = Some(stated);
            assert_eq!(sight(lease.clone()).stated_duration(), Duration::from_secs(expected));
        }
    }

    #[test]
    fn transitions_count_new_holders_only() {
        let now = Timestamp::UNIX_EPOCH;
        let (one, other) = (options(), options());
        let first = created(&one, 1, now);
        let transitions = |lease: &Lease| lease.spec.as_ref().unwrap().lease_transitions;
        assert_eq!(transitions(&taken(&first, &one, 2, now)), Some(1));
        assert_eq!(transitions(&taken(&first, &other, 2, now)), Some(2));
        assert_eq!(transitions(&taken(&released(&first, now), &other, 2, now)), Some(2));
    }
}
