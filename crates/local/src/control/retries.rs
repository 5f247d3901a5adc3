//! How long to wait before an object is looked at again: twice as long each time that it failed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// After the first failure: most are two writers that met, and the second try succeeds.
const FIRST: Duration = Duration::from_millis(50);
/// The longest wait: someone who mends a thing should not have to wait for us.
const LONGEST: Duration = Duration::from_secs(30);

/// The failures of each object since it last succeeded. It holds nothing of objects that do not fail.
pub(crate) struct Retries<K>(Mutex<HashMap<K, u32>>);

impl<K> Default for Retries<K> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash> Retries<K> {
    /// It failed: how long to wait now.
    pub(crate) fn next(&self, key: K) -> Duration {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = failures.entry(key).or_default();
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(*failed)).min(LONGEST);
        *failed = failed.saturating_add(1);
        wait
    }

    /// It succeeded.
    pub(crate) fn forget(&self, key: &K) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_begin_anew_after_a_success() {
        let retries = Retries::default();
        let waits: Vec<_> = (0..20).map(|_| retries.next("a")).collect();
        assert_eq!((waits[0], waits[1], waits[19]), (FIRST, FIRST * 2, LONGEST));
        assert_eq!(retries.next("b"), FIRST);
        retries.forget(&"a");
        assert_eq!(retries.next("a"), FIRST);
    }
}
