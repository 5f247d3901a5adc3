//! Watches: the changes of one scope, selected, in order, from a revision on, for as long as the client listens.

mod select;

use std::collections::VecDeque;

use serde_json::json;
use tokio::time::Instant;

pub use self::select::Selection;
use crate::error::ApiError;
use crate::store::{Document, Follower, Revision, Scope, Store, TooOld};

/// How often a client that asked for bookmarks gets one when nothing happens.
pub const BOOKMARK_INTERVAL: std::time::Duration = std::time::Duration::from_secs(60);
/// So long before a watch ends a client that asked for bookmarks gets one, to go on from.
const LAST_BOOKMARK_BEFORE: std::time::Duration = std::time::Duration::from_secs(2);
/// How long a watch lasts when the client does not say.
pub const DEFAULT_WATCH: std::time::Duration = std::time::Duration::from_secs(30 * 60);
/// The longest watch: more than any connection lasts, and less than what a clock cannot count.
pub const MAX_WATCH: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 60 * 60);
/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The kind of one event of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The object is there, or came into the selection.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or left the selection.
    Deleted,
    /// Nothing happened up to this version.
    Bookmark,
    /// The watch ends, and why.
    Error,
}

impl EventKind {
    /// The text in `type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// To which object; of a bookmark only its version.
    pub object: Document,
    /// The revision of the object.
    pub revision: Revision,
}

/// What a client asked for.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// Of which objects.
    pub scope: Scope,
    /// Which of them.
    pub selection: Selection,
    /// From where on.
    pub from: Start,
    /// The revision at which the resource began to be served as it is: what came before is not told. None: it always was.
    pub since: Option<Revision>,
    /// Whether it wants bookmarks.
    pub bookmarks: bool,
    /// For how long.
    pub lasts: std::time::Duration,
    /// `apiVersion` and `kind` of a bookmark.
    pub type_meta: (String, String),
}

/// Where a watch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With every object there is, as if it were added now, then what follows. `marked`: a bookmark says when all that
    /// were there have been told.
    Everything {
        /// Whether that bookmark is wanted.
        marked: bool,
        /// Every object there was at this revision, instead of the present.
        past: Option<Revision>,
    },
    /// With what happened after this revision.
    After(Revision),
}

/// A watch. It holds a position and nothing else: events are taken from the store when the client asks for them.
pub struct Watch {
    store: Store,
    options: WatchOptions,
    position: Revision,
    /// Whether everything up to that position is known: from then on only what happens in its scope counts.
    began: bool,
    ready: VecDeque<Event>,
    moved: Follower,
    /// When the next bookmark is due.
    bookmark: Instant,
    ends: Instant,
    over: bool,
}

impl Watch {
    /// Begins a watch.
    pub fn new(store: &Store, options: WatchOptions) -> Result<Self, ApiError> {
        let moved = store.follow_resource(&options.scope.resource);
        let mut ready = VecDeque::new();
        let position = match options.from {
            Start::Everything { marked, past } => {
                let old = past.map(|revision| store.list_at(&options.scope, revision)).transpose();
                let old = old.map_err(|too_old| ApiError::expired(too_old.to_string()))?;
                let snapshot = old.unwrap_or_else(|| store.list(&options.scope));
                let selected =
                    snapshot.objects.iter().filter(|(_, stored)| options.selection.matches(&stored.object));
                ready.extend(selected.map(|(_, stored)| Event {
                    kind: EventKind::Added,
                    object: stored.object.clone(),
                    revision: stored.revision,
                }));
                if marked {
                    ready.push_back(bookmark_at(&options, snapshot.revision, true));
                }
                snapshot.revision
            }
            // If that is too long ago, the first event says so.
            Start::After(revision) => revision,
        };
        let ends = Instant::now() + options.lasts.min(MAX_WATCH);
        let bookmark = next_bookmark(Instant::now(), ends);
        Ok(Self {
            store: store.clone(),
            options,
            position,
            began: false,
            ready,
            moved,
            bookmark,
            ends,
            over: false,
        })
    }

    /// The next event; none when the watch is over. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            // Looked at here too: where something always happens, nobody waits.
            if self.over || Instant::now() >= self.ends {
                return None;
            }
            // Seen before reading, so that a change between reading and waiting is not slept through.
            self.moved.mark_seen();
            self.fetch();
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.ends) => self.over = true,
                () = self.moved.moved() => {}
                () = tokio::time::sleep_until(self.bookmark), if self.options.bookmarks => {
                    self.bookmark = next_bookmark(Instant::now(), self.ends);
                    // What happened to others moves the position too.
                    self.fetch();
                    if self.ready.is_empty() {
                        return Some(bookmark_at(&self.options, self.position, false));
                    }
                }
            }
        }
    }

    /// Takes what happened since from the store.
    fn fetch(&mut self) {
        let known = match self.options.since {
            Some(oldest) if self.position < oldest => Err(TooOld { asked: self.position, oldest }),
            _ if self.began => self.store.more_changes(&self.options.scope, self.position),
            _ => self.store.changes_after(&self.options.scope, self.position),
        };
        match known {
            Ok((changes, complete)) => {
                let told = changes.iter().filter_map(|change| self.options.selection.event(change));
                self.ready.extend(told);
                // Who asked for what is yet to come is not told what came before it.
                self.position = self.position.max(complete);
                self.began = true;
            }
            Err(too_old) => {
                let status = ApiError::expired(too_old.to_string()).to_status();
                self.ready.push_back(Event {
                    kind: EventKind::Error,
                    object: Document::of(&status),
                    revision: self.position,
                });
                self.over = true;
            }
        }
    }
}

/// When a bookmark is due: regularly, and once more shortly before the end.
fn next_bookmark(now: Instant, ends: Instant) -> Instant {
    let regular = now + BOOKMARK_INTERVAL;
    let last = ends.checked_sub(LAST_BOOKMARK_BEFORE).filter(|last| *last > now);
    last.map_or(regular, |last| last.min(regular))
}

fn bookmark_at(options: &WatchOptions, revision: Revision, ends_initial: bool) -> Event {
    let (api_version, kind) = &options.type_meta;
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if ends_initial {
        metadata["annotations"] = json!({INITIAL_EVENTS_END: "true"});
    }
    let object = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata});
    Event { kind: EventKind::Bookmark, object: Document::of(&object), revision }
}

#[cfg(test)]
mod tests;
