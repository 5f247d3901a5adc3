//! Scenarios share a world. One that takes it away from under the others has it alone.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static WORLD: RwLock<()> = RwLock::new(());

/// A scenario's time in the world; it is over when this is dropped.
pub(crate) enum Turn {
    /// Others are there, too.
    Beside(RwLockReadGuard<'static, ()>),
    /// Nobody else is.
    Alone(RwLockWriteGuard<'static, ()>),
    /// Those are there that began together, in the turn of one who is alone.
    Within,
}

impl Turn {
    /// Waits for whoever is alone.
    pub(crate) fn beside_others() -> Self {
        Self::Beside(WORLD.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for everyone. A scenario that failed has taken nothing from the others that they could need.
    pub(crate) fn alone() -> Self {
        Self::Alone(WORLD.write().unwrap_or_else(PoisonError::into_inner))
    }
}
