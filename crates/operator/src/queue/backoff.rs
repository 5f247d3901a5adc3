//! How long to wait after a failure: twice as long after each one in a row, spread by chance, and from the start again
//! after a success. What happens meanwhile shortens the wait, and never ends it: see [`NEWS`].

use std::time::Duration;

/// The pause after the first failure.
pub const FIRST: Duration = Duration::from_millis(200);
/// The longest pause: so long a cluster may wait after what held it up is gone.
pub const LONGEST: Duration = Duration::from_secs(60);

/// How long something that failed rests at least, whatever is told of it meanwhile, unless its own pause is shorter.
///
/// What is told may be what makes it succeed (a new spec, an engine that was missing), and even a pass that fails again
/// reports what it saw: half of the second within which status is to be true again. But whoever keeps failing while events
/// come all the time gets two passes in a second, however many they are.
pub const NEWS: Duration = Duration::from_millis(500);

/// How often something failed in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures(u32);

impl Failures {
    /// Notes one more failure, and says how long to wait; `chance` is from 0 to 1.
    pub fn next_pause(&mut self, chance: f64) -> Duration {
        let whole = FIRST.saturating_mul(2_u32.saturating_pow(self.0)).min(LONGEST);
        self.0 = self.0.saturating_add(1);
        whole.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
    }

    /// How many there were.
    pub const fn count(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        let mut failures = Failures::default();
        let pauses: Vec<Duration> = (0..12).map(|_| failures.next_pause(1.0)).collect();
        assert_eq!(pauses[0], FIRST);
        assert_eq!(pauses[1], FIRST * 2);
        assert_eq!(pauses[11], LONGEST);
        assert_eq!(Failures::default().next_pause(0.0), FIRST / 2);
    }
}
