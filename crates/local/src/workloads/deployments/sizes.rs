//! How many Pods each `ReplicaSet` of a Deployment gets next: no client, no clock.

use k8s_openapi::api::apps::v1::ReplicaSet;
use kube::ResourceExt;

use super::revision;
use super::spec::Wish;

/// The `ReplicaSets` of a Deployment.
pub(super) struct Sets {
    /// The one of its present template.
    pub(super) new: Option<ReplicaSet>,
    /// The others, the oldest first.
    pub(super) old: Vec<ReplicaSet>,
}

/// A `ReplicaSet`, by its name, and the size that it gets.
pub(super) type Resize = (String, i32);

/// How many Pods a `ReplicaSet` is to have.
pub(super) fn size(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

fn available(set: &ReplicaSet) -> i32 {
    set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0)
}

impl Sets {
    pub(super) fn all(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().chain(&self.new)
    }

    pub(super) fn active_old(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().filter(|set| size(set) > 0)
    }

    pub(super) fn total(&self) -> i32 {
        self.all().map(size).sum()
    }

    pub(super) fn available(&self) -> i32 {
        self.all().map(available).sum()
    }

    /// Whether the wanted number changed since one that has Pods was sized.
    pub(super) fn is_resized(&self, wish: Wish<'_>) -> bool {
        let mut active = self.all().filter(|set| size(set) > 0);
        active.any(|set| revision::desired(set).is_some_and(|desired| desired != wish.replicas()))
    }
}

/// The size of the new `ReplicaSet`, if it has `now` Pods and all together have `total`.
pub(super) fn of_new(wish: Wish<'_>, total: i32, now: i32) -> i32 {
    if wish.recreates() {
        return wish.replicas();
    }
    let room = wish.replicas().saturating_add(wish.max_surge()).saturating_sub(total);
    if room <= 0 { now } else { now + room.min(wish.replicas() - now) }
}

/// The next move of a rolling update: first the new one grows, then the old ones shrink.
pub(super) fn roll(wish: Wish<'_>, sets: &Sets) -> Vec<Resize> {
    let Some(new) = &sets.new else { return Vec::new() };
    let now = size(new);
    let grown = if now > wish.replicas() { wish.replicas() } else { of_new(wish, sets.total(), now) };
    if grown != now {
        return vec![(new.name_any(), grown)];
    }
    shrink(wish, sets, new)
}

fn shrink(wish: Wish<'_>, sets: &Sets, new: &ReplicaSet) -> Vec<Resize> {
    let least = wish.replicas() - wish.max_unavailable();
    let may_go = sets.total() - least - (size(new) - available(new));
    let mut old: Vec<(&ReplicaSet, i32)> = sets.active_old().map(|set| (set, size(set))).collect();
    if may_go <= 0 {
        return Vec::new();
    }
    // Pods that do not serve go first: nothing is lost with them.
    let mut gone = 0;
    for (set, left) in &mut old {
        let down = (may_go - gone).min(*left - available(set)).max(0);
        *left -= down;
        gone += down;
    }
    let mut spare = sets.available() - least;
    for (_, left) in &mut old {
        let down = spare.min(*left).max(0);
        *left -= down;
        spare -= down;
    }
    let changed = old.into_iter().filter(|(set, left)| size(set) != *left);
    changed.map(|(set, left)| (set.name_any(), left)).collect()
}

/// All old `ReplicaSets` without Pods: before a Deployment that recreates makes a new one.
pub(super) fn stop_old(sets: &Sets) -> Vec<Resize> {
    sets.active_old().map(|set| (set.name_any(), 0)).collect()
}

/// A new wanted number, shared out in proportion while several `ReplicaSets` have Pods.
pub(super) fn resize(wish: Wish<'_>, sets: &Sets) -> Vec<Resize> {
    let active: Vec<&ReplicaSet> = sets.all().filter(|set| size(set) > 0).collect();
    let only = match active[..] {
        [] => sets.new.as_ref().or(sets.old.last()),
        [only] => Some(only),
        _ => None,
    };
    if active.len() < 2 {
        return only.map(|set| (set.name_any(), wish.replicas())).into_iter().collect();
    }
    let is_saturated = sets.new.as_ref().is_some_and(|new| {
        size(new) == wish.replicas()
            && revision::desired(new) == Some(wish.replicas())
            && available(new) == wish.replicas()
    });
    if is_saturated {
        return stop_old(sets);
    }
    if wish.recreates() { Vec::new() } else { share(wish, active) }
}

fn share(wish: Wish<'_>, mut active: Vec<&ReplicaSet>) -> Vec<Resize> {
    let allowed = if wish.replicas() > 0 { wish.replicas() + wish.max_surge() } else { 0 };
    let total: i32 = active.iter().map(|set| size(set)).sum();
    let add = allowed - total;
    // The largest first; of equals the newest when it grows, and the oldest when it shrinks.
    active.reverse();
    if add < 0 {
        active.reverse();
    }
    active.sort_by_key(|set| std::cmp::Reverse(size(set)));
    let mut added = 0;
    let mut sizes: Vec<Resize> = Vec::new();
    for set in active {
        let left = add - added;
        let part = part(wish, set, total);
        let part = if add > 0 { part.min(left) } else { part.max(left) };
        let part = if add == 0 { 0 } else { part };
        added += part;
        sizes.push((set.name_any(), size(set) + part));
    }
    if let Some((_, first)) = sizes.first_mut() {
        *first = (*first + add - added).max(0);
    }
    sizes
}

/// What a `ReplicaSet` gains or loses if all keep their proportions.
fn part(wish: Wish<'_>, set: &ReplicaSet, total: i32) -> i32 {
    if wish.replicas() == 0 {
        return -size(set);
    }
    let before = revision::largest(set).filter(|largest| *largest > 0).unwrap_or(total);
    if before == 0 {
        return 0;
    }
    let scaled = i64::from(size(set)) * i64::from(wish.replicas() + wish.max_surge());
    // Rounded to the nearest, halves up.
    let rounded = (2 * scaled + i64::from(before)).div_euclid(2 * i64::from(before));
    i32::try_from(rounded).unwrap_or(i32::MAX) - size(set)
}
