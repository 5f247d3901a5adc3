//! Garbage collection: what is owned goes with its owners, after them or before them, or is let go of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::astray;
use super::feed::Seen;
use super::owners::{self, FOREGROUND, Found, ORPHAN, Owner, let_go, release, waits};
use super::queue::Queue;
use crate::error::ApiError;
use crate::lifecycle::{Policy, metadata};
use crate::server::Server;
use crate::store::Key;

/// Who is owned by whom, and what has to be looked at.
#[derive(Default)]
pub(super) struct Garbage {
    /// What each owner owns, by the owner's uid.
    owned: BTreeMap<String, BTreeSet<Key>>,
    /// The owners of what has some.
    owners: BTreeMap<Key, Vec<Owner>>,
    queue: Queue<Key>,
    /// What names an owner in another namespace, and was not told of yet.
    astray: Vec<(Key, Owner)>,
}

impl Garbage {
    pub(super) fn observe(&mut self, server: &Server, seen: &Seen) {
        let now = if !seen.gone && seen.mentions("ownerReferences") {
            owners::of(seen.object())
        } else {
            Vec::new()
        };
        let before = self.owners.remove(&seen.key).unwrap_or_default();
        for owner in &before {
            self.disown(&owner.uid, &seen.key);
        }
        // An owner that waits may wait for this one no longer.
        for owner in before.iter().chain(&now) {
            if let Some(key) = owner.key(server, &seen.key.namespace) {
                self.queue.add(key);
            }
        }
        for owner in now.iter().filter(|owner| !before.contains(owner)) {
            if astray::is_astray(server, owner, &seen.key.namespace) {
                self.astray.push((seen.key.clone(), owner.clone()));
            }
        }
        if !now.is_empty() {
            for owner in &now {
                self.owned.entry(owner.uid.clone()).or_default().insert(seen.key.clone());
            }
            self.owners.insert(seen.key.clone(), now);
            self.queue.add(seen.key.clone());
        }
        if seen.gone && !self.owned.is_empty() {
            let owned = self.owned.get(metadata::text(seen.object(), "uid"));
            owned.into_iter().flatten().for_each(|key| self.queue.add(key.clone()));
        } else if seen.mentions("deletionTimestamp") {
            self.queue.add(seen.key.clone());
        }
    }

    fn disown(&mut self, uid: &str, key: &Key) {
        if let Some(owned) = self.owned.get_mut(uid) {
            owned.remove(key);
            if owned.is_empty() {
                self.owned.remove(uid);
            }
        }
    }

    /// Looks at what is in the queue; whether something failed.
    pub(super) async fn work(&mut self, server: &Server) -> bool {
        for (key, owner) in std::mem::take(&mut self.astray) {
            astray::tell(server, &key, &owner).await;
        }
        self.queue.begin();
        while let Some(key) = self.queue.next() {
            let outcome = self.look_at(server, &key).await;
            self.queue.done(key, &outcome);
        }
        self.queue.has_failed()
    }

    async fn look_at(&mut self, server: &Server, key: &Key) -> Result<(), ApiError> {
        let Some(object) = server.own_get(key) else { return Ok(()) };
        if waits(&object) {
            return self.end_after_owned(server, key, &object).await;
        }
        if metadata::is_ending(&object) {
            let orphans = metadata::finalizers(&object).contains(&ORPHAN);
            return if orphans { self.let_owned_go(server, key, &object).await } else { Ok(()) };
        }
        self.judge(server, key, &object).await
    }

    /// Foreground: what blocks the owner goes first, then the owner.
    async fn end_after_owned(&mut self, server: &Server, key: &Key, object: &Value) -> Result<(), ApiError> {
        let uid = metadata::text(object, "uid");
        let blocks = |key: &&Key| {
            let owners = self.owners.get(*key).map_or(&[][..], Vec::as_slice);
            owners.iter().any(|owner| owner.uid == uid && owner.blocks)
        };
        let all = self.owned.get(uid).into_iter().flatten();
        let blocking: Vec<Key> = all.filter(blocks).cloned().collect();
        if blocking.is_empty() {
            return server.own_change(key, None, |object| release(object, FOREGROUND)).await;
        }
        for key in blocking {
            let Some(object) = server.own_get(&key) else { continue };
            if !metadata::is_ending(&object) {
                self.judge(server, &key, &object).await?;
            }
        }
        Ok(())
    }

    /// Orphan: what is owned stays, and does not know its owner any more.
    async fn let_owned_go(&mut self, server: &Server, key: &Key, object: &Value) -> Result<(), ApiError> {
        let uid = metadata::text(object, "uid");
        let owned: Vec<Key> = self.owned.get(uid).into_iter().flatten().cloned().collect();
        for key in owned {
            server.own_change(&key, None, |object| let_go(object, &[uid])).await?;
        }
        server.own_change(key, None, |object| release(object, ORPHAN)).await
    }

    /// Whether something that has owners may stay.
    async fn judge(&mut self, server: &Server, key: &Key, object: &Value) -> Result<(), ApiError> {
        let owners = owners::of(object);
        let found: Vec<(&Owner, Found)> =
            owners.iter().map(|owner| (owner, owner.find(server, &key.namespace))).collect();
        let has = |what: Found| found.iter().any(|(_, found)| *found == what);
        if found.is_empty() || has(Found::Unknown) {
            return Ok(());
        }
        if has(Found::Solid) {
            let lost: Vec<&str> = found
                .iter()
                .filter(|(_, found)| *found != Found::Solid)
                .map(|(owner, _)| owner.uid.as_str())
                .collect();
            if lost.is_empty() {
                return Ok(());
            }
            return server.own_change(key, None, |object| let_go(object, &lost)).await;
        }
        let uid = metadata::text(object, "uid");
        let owns = self.owned.contains_key(uid);
        let finalizers = metadata::finalizers(object);
        let policy = if has(Found::Waits) && owns {
            self.break_circle(server, key, uid).await?;
            Policy::Foreground
        } else if finalizers.contains(&ORPHAN) {
            Policy::Orphan
        } else if finalizers.contains(&FOREGROUND) {
            Policy::Foreground
        } else {
            Policy::Background
        };
        server.own_delete(key, uid, policy).await
    }

    /// Two that own each other must not wait for each other: if something that this one owns waits already, this one
    /// blocks its owners no more.
    async fn break_circle(&mut self, server: &Server, key: &Key, uid: &str) -> Result<(), ApiError> {
        let mut owned = self.owned.get(uid).into_iter().flatten();
        if !owned.any(|key| server.own_get(key).is_some_and(|object| waits(&object))) {
            return Ok(());
        }
        let unblock = |object: &mut Value| {
            let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
            for owner in owners.into_iter().flatten() {
                if owner["blockOwnerDeletion"] == true {
                    owner["blockOwnerDeletion"] = false.into();
                }
            }
        };
        server.own_change(key, None, unblock).await
    }
}
