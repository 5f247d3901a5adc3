//! Which namespaces have an operator of their own: those that hold a Lease of the leader's name.
//!
//! An operator of all namespaces leaves them alone. One whose Lease is deleted stays with its operator for as long as that one may not
//! have noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch_leases};
use muster_api::names::LEASE_NAME;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::options::LEASE_DURATION;

/// How long a leader may go on without its Lease.
const GRACE: Duration = LEASE_DURATION;

/// The namespaces of others.
type Namespaces = Arc<BTreeSet<String>>;

/// Watches for Leases of other operators.
pub struct Others {
    api: Api<Lease>,
    known: Known,
    published: watch::Sender<Option<Namespaces>>,
}

impl Others {
    /// All but the Lease in `own`.
    pub fn new(client: kube::Client, own: &str) -> Self {
        let published = watch::Sender::default();
        Self { api: Api::all(client), known: Known::new(own.to_owned()), published }
    }

    /// The namespaces to leave alone; none as long as that is not known, and then all are.
    pub fn namespaces(&self) -> watch::Receiver<Option<Namespaces>> {
        self.published.subscribe()
    }

    /// Keeps it up to date until it is dropped.
    pub async fn run(mut self) {
        let config = watcher::Config::default().fields(&format!("metadata.name={LEASE_NAME}"));
        let mut events = watch_leases(self.api.clone(), config).default_backoff().boxed();
        let mut said = String::new();
        loop {
            let next = self.known.next_change();
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(Ok(event)) => self.known.take(event, Instant::now()),
                    Some(Err(error)) => tell(&mut said, &error),
                    None => return,
                },
                () = until(next) => {}
            }
            self.publish();
        }
    }

    fn publish(&mut self) {
        let Some(now) = self.known.namespaces(Instant::now()) else { return };
        let before = self.published.borrow().clone();
        if before.as_deref() == Some(&now) {
            return;
        }
        let before = before.unwrap_or_default();
        for namespace in now.difference(&before) {
            tracing::info!(namespace, "this namespace has an operator of its own, and is left alone");
        }
        for namespace in before.difference(&now) {
            tracing::info!(namespace, "this namespace has no operator of its own any more");
        }
        self.published.send_replace(Some(Arc::new(now)));
    }
}

/// Says once what is wrong.
fn tell(said: &mut String, error: &watcher::Error) {
    let text = error.to_string();
    if *said != text {
        tracing::warn!(
            "the Leases of other operators cannot be watched; allow list and watch on leases: {text}"
        );
        *said = text;
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// What the watch told.
#[derive(Debug)]
struct Known {
    own: String,
    listed: bool,
    /// Where a Lease is.
    there: BTreeSet<String>,
    /// Where one was, and until when its operator may not know that.
    gone: BTreeMap<String, Instant>,
    /// What a list has told so far.
    listing: BTreeSet<String>,
}

impl Known {
    fn new(own: String) -> Self {
        let (there, gone, listing) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        Self { own, listed: false, there, gone, listing }
    }

    fn take(&mut self, event: Event<Lease>, now: Instant) {
        match event {
            Event::Apply(lease) => self.appeared(lease),
            Event::Delete(lease) => {
                let namespace = lease.metadata.namespace.unwrap_or_default();
                if self.there.remove(&namespace) {
                    self.gone.insert(namespace, now + GRACE);
                }
            }
            Event::Init => self.listing.clear(),
            Event::InitApply(lease) => {
                self.listing.extend(lease.metadata.namespace);
            }
            Event::InitDone => {
                self.listed = true;
                self.listing.remove(&self.own);
                let there = std::mem::take(&mut self.listing);
                let missing = self.there.difference(&there).cloned();
                self.gone.extend(missing.map(|namespace| (namespace, now + GRACE)));
                self.there = there;
            }
        }
    }

    fn appeared(&mut self, lease: Lease) {
        let namespace = lease.metadata.namespace.unwrap_or_default();
        if namespace != self.own {
            self.there.insert(namespace);
        }
    }

    /// When the next namespace is given up.
    fn next_change(&self) -> Option<Instant> {
        self.gone.values().min().copied()
    }

    fn namespaces(&mut self, now: Instant) -> Option<BTreeSet<String>> {
        self.gone.retain(|_, until| *until > now);
        self.listed.then(|| self.there.iter().chain(self.gone.keys()).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(namespace: &str) -> Lease {
        let mut lease = Lease::default();
        lease.metadata.namespace = Some(namespace.to_owned());
        lease
    }

    fn listed(known: &mut Known, namespaces: &[&str], now: Instant) {
        known.take(Event::Init, now);
        for namespace in namespaces {
            known.take(Event::InitApply(lease(namespace)), now);
        }
        known.take(Event::InitDone, now);
    }

    fn names(known: &mut Known, now: Instant) -> Vec<String> {
        known.namespaces(now).unwrap().into_iter().collect()
    }

    #[test]
    fn nothing_is_known_before_the_first_list_is_complete() {
        let (mut known, now) = (Known::new("own".into()), Instant::now());
        known.take(Event::Init, now);
        known.take(Event::InitApply(lease("shop")), now);
        assert_eq!(known.namespaces(now), None);
        known.take(Event::InitDone, now);
        assert_eq!(names(&mut known, now), ["shop"]);
    }

    #[test]
    fn ones_own_lease_is_not_anothers() {
        let (mut known, now) = (Known::new("own".into()), Instant::now());
        listed(&mut known, &["own"], now);
        known.take(Event::Apply(lease("own")), now);
        assert!(names(&mut known, now).is_empty());
    }

    #[test]
    fn what_is_missing_after_a_list_or_deleted_stays_for_a_while() {
        let (mut known, now) = (Known::new("own".into()), Instant::now());
        listed(&mut known, &["bank", "shop"], now);
        listed(&mut known, &["shop"], now);
        let later = now + Duration::from_secs(5);
        known.take(Event::Delete(lease("shop")), later);
        assert_eq!(names(&mut known, later), ["bank", "shop"]);
        assert_eq!(known.next_change(), Some(now + GRACE));
        assert_eq!(names(&mut known, now + GRACE), ["shop"]);
        known.take(Event::Apply(lease("shop")), later);
        assert_eq!(names(&mut known, later + GRACE), ["shop"], "it came back");
    }
}
