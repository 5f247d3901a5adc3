//! Free storage moves all the time and is not a change: it is published rounded, and at most once a minute,
//! except across a threshold.

use jiff::{SignedDuration, Timestamp};

/// How long a published figure stands, unless a threshold is crossed.
pub const PUBLISH_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// Figures are rounded down to this part of the capacity (one hundredth).
const STEPS: u128 = 100;

/// A figure as status shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Free bytes, rounded down to a hundredth of the capacity.
    pub bytes: u128,
    /// Since when it has been shown.
    pub at: Timestamp,
}

/// What status should show for `free` of `capacity` now; `lines` are the thresholds that matter at once.
pub fn publish(
    free: u128,
    capacity: u128,
    shown: Option<Published>,
    lines: &[u128],
    now: Timestamp,
) -> Published {
    let step = (capacity / STEPS).max(1);
    let fresh = Published { bytes: free - free % step, at: now };
    let Some(shown) = shown else {
        return fresh;
    };
    let crossed = lines.iter().any(|line| shown.bytes.cmp(line) != fresh.bytes.cmp(line));
    let due = now.duration_since(shown.at) >= PUBLISH_INTERVAL;
    if fresh.bytes != shown.bytes && (crossed || due) { fresh } else { shown }
}
