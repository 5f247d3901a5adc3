//! The guard: no pass runs on caches that are older than what we wrote ourselves.
//!
//! Each write notes the version that came back; until the caches have seen it, the cluster it belongs to waits. A write
//! whose answer was lost may or may not have happened: then the object is read once, and what is found is waited for. So is
//! one that nothing is told of for long: its event may be lost, and no other may come.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use muster_api::names::LABEL_CLUSTER;
use tokio::time::Instant;

use super::Caches;
use super::kinds::Cached;
use crate::key::Name;

/// What the caches have to show before a pass may run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// The object at this version or a later one.
    Version { uid: Option<String>, version: u64 },
    /// Anything but this object.
    Gone { uid: Option<String> },
    /// Nothing older of the object than this version, which lacks the label by which it is watched: nobody will show that one.
    Hidden { uid: Option<String>, version: u64 },
    /// It is not known what a write led to.
    Unsure,
}

impl Expected {
    /// Whether this is of the same object, and of a later version of it.
    fn is_later_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Version { uid, version }, Self::Version { uid: same, version: earlier }) => {
                uid == same && version > earlier
            }
            _ => false,
        }
    }
}

/// How long the caches may lack an object that was written before it is read. It may have come and gone between two passes,
/// and then no event tells of it any more.
const LACKING: Duration = Duration::from_secs(2);
/// How long the caches may show an object as it was before it was written. Watches are seldom so late, and then one read of what
/// they owe costs little; without it a cluster would rest, and say nothing, until everything is told anew.
pub const LATE: Duration = Duration::from_secs(5);

/// What is expected of one object, and how to look at it.
struct Expectation {
    what: Expected,
    since: Instant,
    is_known: fn(&Caches, &Name) -> bool,
    met: fn(&Caches, &Name, &Expected) -> bool,
}

impl Expectation {
    /// Whether only reading the object can tell.
    fn is_unsure(&self, caches: &Caches, name: &Name) -> bool {
        let patience = || if (self.is_known)(caches, name) { LATE } else { LACKING };
        self.what == Expected::Unsure || self.since.elapsed() >= patience()
    }
}

type Of = BTreeMap<(String, Name), Expectation>;

/// What was written and not yet seen again, by cluster.
#[derive(Clone, Default)]
pub struct Guard(Arc<Mutex<HashMap<Name, Of>>>);

/// How the caches stand to our own writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// They have seen all of them.
    Fresh,
    /// They have not; the change that they miss is on its way.
    Behind {
        /// The object that was written.
        object: String,
    },
    /// Something may have been written, or is not told for long: kind and name of what has to be read first.
    Unsure {
        /// The kind.
        kind: String,
        /// The object.
        name: Name,
    },
}

impl Guard {
    /// Something was written, and is like this now.
    pub fn wrote<K: Cached>(&self, cluster: &Name, name: &Name, metadata: &ObjectMeta) {
        let version = metadata.resource_version.as_deref().and_then(|version| version.parse().ok());
        let uid = metadata.uid.clone();
        // A version that is no number cannot be compared; then the event must do.
        let Some(version) = version else { return self.forget::<K>(cluster, name) };
        let labelled = metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(LABEL_CLUSTER));
        // Someone took the label away, or a policy never let it through: whoever waited for its event would wait for ever.
        let is_shown = labelled || !K::LABELLED;
        let what =
            if is_shown { Expected::Version { uid, version } } else { Expected::Hidden { uid, version } };
        // An object that was deleted for good by this write will not be seen at any version.
        self.expect::<K>(cluster, name, what);
    }

    /// Something was deleted for good.
    pub fn deleted<K: Cached>(&self, cluster: &Name, name: &Name, uid: Option<String>) {
        self.expect::<K>(cluster, name, Expected::Gone { uid });
    }

    /// A write was sent and its answer was lost.
    pub fn unsure<K: Cached>(&self, cluster: &Name, name: &Name) {
        self.expect::<K>(cluster, name, Expected::Unsure);
    }

    /// This object was read, and what was found is on its way to the caches: they have as long again to show it.
    pub fn looked<K: Cached>(&self, cluster: &Name, name: &Name) {
        let mut all = self.all();
        let of = all.get_mut(cluster).and_then(|of| of.get_mut(&(K::kind(&()).into_owned(), name.clone())));
        if let Some(expected) = of {
            expected.since = Instant::now();
        }
    }

    /// Nothing is expected of this object any more.
    pub fn forget<K: Cached>(&self, cluster: &Name, name: &Name) {
        let mut all = self.all();
        if let Some(of) = all.get_mut(cluster) {
            of.remove(&(K::kind(&()).into_owned(), name.clone()));
        }
    }

    /// Nothing is expected of this cluster any more: it is gone.
    pub fn forget_cluster(&self, cluster: &Name) {
        self.all().remove(cluster);
    }

    /// Whether the caches have seen all that we wrote of this cluster.
    pub fn freshness(&self, caches: &Caches, cluster: &Name) -> Freshness {
        let mut all = self.all();
        let Some(of) = all.get_mut(cluster) else { return Freshness::Fresh };
        of.retain(|(_, name), expected| !(expected.met)(caches, name, &expected.what));
        let unsure = of.iter().find(|((_, name), expected)| expected.is_unsure(caches, name));
        if let Some(((kind, name), _)) = unsure {
            return Freshness::Unsure { kind: kind.clone(), name: name.clone() };
        }
        if let Some(((kind, name), _)) = of.first_key_value() {
            return Freshness::Behind { object: format!("{kind} {name}") };
        }
        all.remove(cluster);
        Freshness::Fresh
    }

    /// The clusters of which the caches have owed something for so long that it has to be read.
    pub fn owed(&self, caches: &Caches) -> Vec<Name> {
        let mut all = self.all();
        all.retain(|_, of| {
            of.retain(|(_, name), expected| !(expected.met)(caches, name, &expected.what));
            !of.is_empty()
        });
        let owed = |of: &Of| of.iter().any(|((_, name), expected)| expected.is_unsure(caches, name));
        let mut clusters: Vec<Name> =
            all.iter().filter(|(_, of)| owed(of)).map(|(cluster, _)| cluster.clone()).collect();
        // So that a run can be repeated.
        clusters.sort();
        clusters
    }

    fn expect<K: Cached>(&self, cluster: &Name, name: &Name, what: Expected) {
        let is_known = |caches: &Caches, name: &Name| K::store(caches).get(name).is_some();
        let expectation = Expectation { what, since: Instant::now(), is_known, met: met::<K> };
        let key = (K::kind(&()).into_owned(), name.clone());
        let mut all = self.all();
        let of = all.entry(cluster.clone()).or_default();
        // Of two writes that were under way at once, the answer to the later one may come first. A write that changed nothing leads to no
        // event of its own: what is owed is owed since the first.
        let is_owed = |known: &Expectation| {
            known.what == expectation.what || known.what.is_later_than(&expectation.what)
        };
        if !of.get(&key).is_some_and(is_owed) {
            of.insert(key, expectation);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Name, Of>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn met<K: Cached>(caches: &Caches, name: &Name, expected: &Expected) -> bool {
    let seen = K::store(caches).get(name);
    let known = |seen: &K| seen.resource_version().and_then(|version| version.parse::<u64>().ok());
    match expected {
        Expected::Unsure => false,
        Expected::Gone { uid } => seen.is_none_or(|seen| seen.uid() != *uid),
        Expected::Hidden { uid, version } => {
            seen.is_none_or(|seen| seen.uid() != *uid || known(&seen).is_none_or(|known| known >= *version))
        }
        Expected::Version { uid, version } => seen.is_some_and(|seen| {
            let known = known(&seen);
            // Another object of the same name came after ours had gone.
            known.is_none_or(|known| known >= *version) || (seen.uid() != *uid && known > Some(*version))
        }),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::PersistentVolumeClaim as Claim;

    use super::*;

    fn metadata() -> ObjectMeta {
        let text = |text: &str| Some(text.to_owned());
        ObjectMeta {
            name: text("data-a"),
            namespace: text("shop"),
            uid: text("u"),
            resource_version: text("7"),
            labels: Some([(LABEL_CLUSTER.to_owned(), "orders".to_owned())].into()),
            ..ObjectMeta::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_comes_late_does_not_take_the_place_of_a_later_one() {
        let (guard, caches) = (Guard::default(), Caches::default());
        let (cluster, name) = (Name::new("shop", "orders"), Name::new("shop", "data-a"));
        let at = |version: &str| ObjectMeta { resource_version: Some(version.to_owned()), ..metadata() };
        guard.wrote::<Claim>(&cluster, &name, &at("9"));
        guard.wrote::<Claim>(&cluster, &name, &at("8"));
        caches.claims.put(Claim { metadata: at("8"), ..Claim::default() });
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Behind { .. }));
        caches.claims.put(Claim { metadata: at("9"), ..Claim::default() });
        assert_eq!(guard.freshness(&caches, &cluster), Freshness::Fresh);
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_and_went_between_two_passes_is_read_and_does_not_hold_up_its_cluster() {
        let (guard, caches) = (Guard::default(), Caches::default());
        let (cluster, name) = (Name::new("shop", "orders"), Name::new("shop", "data-a"));
        guard.wrote::<Claim>(&cluster, &name, &metadata());
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Behind { .. }), "its event may come");
        tokio::time::advance(LACKING).await;
        let unsure = Freshness::Unsure { kind: "PersistentVolumeClaim".into(), name: name.clone() };
        assert_eq!(guard.freshness(&caches, &cluster), unsure);
        caches.claims.put(Claim { metadata: metadata(), ..Claim::default() });
        assert_eq!(guard.freshness(&caches, &cluster), Freshness::Fresh);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_shown_as_it_was_before_our_write_is_read_when_its_event_does_not_come() {
        let (guard, caches) = (Guard::default(), Caches::default());
        let (cluster, name) = (Name::new("shop", "orders"), Name::new("shop", "data-a"));
        caches.claims.put(Claim { metadata: metadata(), ..Claim::default() });
        let written = ObjectMeta { resource_version: Some("8".to_owned()), ..metadata() };
        guard.wrote::<Claim>(&cluster, &name, &written);
        tokio::time::advance(LATE / 2).await;
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Behind { .. }), "its event may come");
        // The same once more, by whoever does not see that it is so already.
        guard.wrote::<Claim>(&cluster, &name, &written);
        tokio::time::advance(LATE / 2).await;
        assert_eq!(guard.owed(&caches), std::slice::from_ref(&cluster));
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Unsure { .. }));
        guard.looked::<Claim>(&cluster, &name);
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Behind { .. }), "it is on its way");
        assert!(guard.owed(&caches).is_empty());
    }

    /// It is watched by its label, so without it nobody ever tells of it.
    #[tokio::test(start_paused = true)]
    async fn what_lost_the_label_by_which_it_is_watched_does_not_hold_up_its_cluster() {
        let (guard, caches) = (Guard::default(), Caches::default());
        let (cluster, name) = (Name::new("shop", "orders"), Name::new("shop", "data-a"));
        let lost = || ObjectMeta { labels: None, resource_version: Some("8".to_owned()), ..metadata() };
        guard.wrote::<Claim>(&cluster, &name, &metadata());
        guard.wrote::<Claim>(&cluster, &name, &lost());
        assert_eq!(guard.freshness(&caches, &cluster), Freshness::Fresh);
        // As long as it is shown as it was before, what is shown is old.
        caches.claims.put(Claim { metadata: metadata(), ..Claim::default() });
        guard.wrote::<Claim>(&cluster, &name, &lost());
        assert!(matches!(guard.freshness(&caches, &cluster), Freshness::Behind { .. }));
        caches.claims.remove(&name);
        assert_eq!(guard.freshness(&caches, &cluster), Freshness::Fresh);
        // Nor does it when someone has given it the label back.
        guard.wrote::<Claim>(&cluster, &name, &lost());
        let back = ObjectMeta { resource_version: Some("9".to_owned()), ..metadata() };
        caches.claims.put(Claim { metadata: back, ..Claim::default() });
        assert_eq!(guard.freshness(&caches, &cluster), Freshness::Fresh);
    }
}
