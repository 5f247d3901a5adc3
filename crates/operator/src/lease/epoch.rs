//! Which epoch comes next: above every one that was seen, and at least the wall clock in seconds.
//!
//! A number in the Lease that no leader can have written is not followed: text that is no number, or one that is more than
//! [`MAX_EPOCH_LEAD`] above the clock (136 years). To go above such a number would lift every agent out of the reach of all later
//! leaders, who begin at their clock; so the next epoch is what it would have been had the annotation not been there. An agent
//! that really follows such an epoch is a failed one, as a leader that it reports to finds out.

use jiff::Timestamp;
pub use muster_core::manager::observed::MAX_EPOCH_LEAD;

/// The number of a leader's term of office. Agents obey the highest that they have seen.
pub type Epoch = u64;

/// The annotation holds what no leader can have written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the annotation muster.dev/epoch is {0:?}, which no leader wrote; it is replaced at the next taking")]
pub(super) struct Unbelievable(pub(super) String);

/// The wall clock in seconds.
pub(super) fn of_clock(now: Timestamp) -> Epoch {
    u64::try_from(now.as_second()).unwrap_or(0)
}

/// Whether a leader can have come to this epoch; `floor` is the highest that we know to be true.
pub(super) fn is_believable(epoch: Epoch, floor: Epoch, now: Timestamp) -> bool {
    epoch.saturating_sub(of_clock(now).max(floor)) <= MAX_EPOCH_LEAD
}

/// The epoch in the annotation; 0 where there is none.
pub(super) fn read(text: Option<&str>, floor: Epoch, now: Timestamp) -> Result<Epoch, Unbelievable> {
    let Some(text) = text else { return Ok(0) };
    let number = text.parse().ok().filter(|epoch| is_believable(*epoch, floor, now));
    number.ok_or_else(|| Unbelievable(text.chars().take(SHOWN).collect()))
}

/// How much of a garbled annotation is shown: enough to recognise it.
const SHOWN: usize = 40;

/// The epoch of the next taking, when `floor` is the highest that was seen anywhere.
pub(super) fn next(floor: Epoch, now: Timestamp) -> Epoch {
    floor.saturating_add(1).max(of_clock(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn the_next_epoch_is_above_all_that_were_seen_and_not_below_the_clock() {
        assert_eq!(next(0, at(1_000)), 1_000);
        assert_eq!(next(999, at(1_000)), 1_000);
        assert_eq!(next(1_000, at(1_000)), 1_001);
        assert_eq!(next(5_000, at(1_000)), 5_001);
        assert_eq!(next(0, at(0)), 1);
        assert_eq!(next(0, at(-5)), 1, "a clock before 1970");
        assert_eq!(next(u64::MAX, at(0)), u64::MAX);
    }

    #[test]
    fn what_no_leader_wrote_is_not_followed() {
        let (now, bound) = (at(1_000), 1_000 + MAX_EPOCH_LEAD);
        assert_eq!(read(None, 0, now), Ok(0));
        assert_eq!(read(Some("1001"), 0, now), Ok(1_001));
        assert_eq!(read(Some(&bound.to_string()), 0, now), Ok(bound));
        for text in ["", "soon", "-1", "1.5", "99999999999999999999999", &(bound + 1).to_string()] {
            assert_eq!(read(Some(text), 0, now), Err(Unbelievable(text.into())));
        }
        assert_eq!(read(Some(&"9".repeat(4_000)), 0, now), Err(Unbelievable("9".repeat(SHOWN))));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_make_known_epochs_unbelievable() {
        let known = 1_000 + MAX_EPOCH_LEAD;
        assert_eq!(read(Some(&known.to_string()), known, at(0)), Ok(known));
    }
}
