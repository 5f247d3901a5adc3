//! Following one object until something can be said about it: a read, then a watch, and a read again whenever the watch
//! ends or what it shows cannot be. Bounded by a deadline, and never polling.

use std::time::Duration;

use futures::{StreamExt, pin_mut};
use kube::ResourceExt;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::Access;
use crate::error::Failure;

/// The longest that one watch lasts before it is begun anew: a connection that died silently is noticed then.
const WATCH_LIMIT: Duration = Duration::from_secs(240);
/// How much longer than that its end may take to arrive.
const WATCH_GRACE: Duration = Duration::from_secs(10);
/// Before the next read after one that failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What follows from the present state of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// There is an answer.
    Answer(T),
    /// Not yet.
    Wait,
    /// What was shown is older than what is known to exist: read again.
    Reread,
}

/// One object that is followed.
pub struct Follow<'a, K> {
    /// The cluster.
    pub access: &'a Access,
    /// Its kind and namespace.
    pub api: Api<K>,
    /// Its name.
    pub name: &'a str,
    /// What is being done, for errors.
    pub doing: String,
    /// How long at most. Zero: one look.
    pub timeout: Duration,
}

impl<K> Follow<'_, K>
where
    K: Clone + DeserializeOwned + std::fmt::Debug + ResourceExt + 'static,
{
    /// Looks until `judge` answers; none at the deadline. The judge is given nothing when the object does not exist.
    pub async fn until<T>(&self, mut judge: impl FnMut(Option<&K>) -> Step<T>) -> Result<Option<T>, Failure> {
        let deadline = Instant::now() + self.timeout;
        // The first look is made however short the time is, and its failure is told at once.
        let (first, mut version) = self.look().await?;
        if let Step::Answer(answer) = judge(first.as_ref()) {
            return Ok(Some(answer));
        }
        let rest = async {
            loop {
                if let Some(answer) = self.watch(&version, &mut judge).await {
                    return answer;
                }
                match self.look().await {
                    // What is read now is the newest there is, so a wish to read again waits for a change.
                    Ok((seen, at)) => match judge(seen.as_ref()) {
                        Step::Answer(answer) => return answer,
                        Step::Wait | Step::Reread => version = at,
                    },
                    // The server may be restarting, and there is time left.
                    Err(_) => tokio::time::sleep(RETRY_AFTER).await,
                }
            }
        };
        Ok(tokio::time::timeout_at(deadline, rest).await.ok())
    }

    /// The object as it is, if it is there, and the version from which to watch.
    async fn look(&self) -> Result<(Option<K>, String), Failure> {
        let only = ListParams::default().fields(&format!("metadata.name={}", self.name));
        let list = self.access.call(&self.doing, self.api.list(&only)).await?;
        let version = list.metadata.resource_version.unwrap_or_default();
        Ok((list.items.into_iter().next(), version))
    }

    /// Watches until there is an answer; none when the watch ended or a read is wished for.
    async fn watch<T>(&self, version: &str, judge: &mut impl FnMut(Option<&K>) -> Step<T>) -> Option<T> {
        let limit = u32::try_from(WATCH_LIMIT.as_secs()).unwrap_or(u32::MAX);
        let only = WatchParams::default().fields(&format!("metadata.name={}", self.name)).timeout(limit);
        let events = self.access.call(&self.doing, self.api.watch(&only, version)).await;
        let Ok(events) = events else {
            tokio::time::sleep(RETRY_AFTER).await;
            return None;
        };
        pin_mut!(events);
        let end = Instant::now() + WATCH_LIMIT + WATCH_GRACE;
        while let Ok(Some(Ok(event))) = tokio::time::timeout_at(end, events.next()).await {
            let step = match &event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => judge(Some(object)),
                WatchEvent::Deleted(_) => judge(None),
                WatchEvent::Bookmark(_) => Step::Wait,
                WatchEvent::Error(_) => Step::Reread,
            };
            match step {
                Step::Answer(answer) => return Some(answer),
                Step::Wait => {}
                Step::Reread => return None,
            }
        }
        None
    }
}
