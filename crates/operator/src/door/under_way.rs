//! A write whose outcome the guard has to know of, also when nobody waits for it any more.

use std::marker::PhantomData;

use super::CallError;
use crate::cache::{Cached, Guard};
use crate::key::Name;

/// A write that is under way. Dropped before its outcome is told (its pass took too long, its manager was ended), it may
/// have happened all the same, and the object is read before anyone acts on what the caches show.
pub(super) struct UnderWay<'a, K: Cached> {
    guard: &'a Guard,
    cluster: &'a Name,
    name: &'a Name,
    told: bool,
    kind: PhantomData<fn() -> K>,
}

impl<'a, K: Cached> UnderWay<'a, K> {
    pub(super) fn new(guard: &'a Guard, cluster: &'a Name, name: &'a Name) -> Self {
        Self { guard, cluster, name, told: false, kind: PhantomData }
    }

    /// It has led to this.
    pub(super) fn ended(mut self, outcome: &Result<K, CallError>) {
        self.told = true;
        match outcome {
            Ok(written) => self.guard.wrote::<K>(self.cluster, self.name, written.meta()),
            Err(error) if error.may_have_happened() => self.guard.unsure::<K>(self.cluster, self.name),
            Err(_) => {}
        }
    }

    /// The object is gone with it.
    pub(super) fn deleted(mut self, uid: Option<String>) {
        self.told = true;
        self.guard.deleted::<K>(self.cluster, self.name, uid);
    }

    /// There was nothing to change.
    pub(super) fn changed_nothing(mut self) {
        self.told = true;
    }
}

impl<K: Cached> Drop for UnderWay<'_, K> {
    fn drop(&mut self) {
        if !self.told {
            self.guard.unsure::<K>(self.cluster, self.name);
        }
    }
}
