//! Where uids, generated names and times come from.

use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::Instant;

use crate::lifecycle::Source;

/// The characters of generated names: no vowels, so that no words come out, and none that look alike.
const SUFFIX_CHARACTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// How many of them make a name unique.
const SUFFIX_LENGTH: usize = 5;

/// The system's clock and chance.
#[derive(Debug)]
pub struct System(StdRng);

impl System {
    /// Seeded by the operating system.
    pub fn new() -> Self {
        Self(StdRng::from_os_rng())
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

/// The same ids and times in every run: chance from a seed, and the time of the runtime's clock, which a test may pause.
#[derive(Debug)]
pub struct Seeded {
    chance: StdRng,
    began: Option<Instant>,
    at: Timestamp,
}

impl Seeded {
    /// From this seed, and from this time on.
    pub fn new(seed: u64, at: Timestamp) -> Self {
        Self { chance: StdRng::seed_from_u64(seed), began: None, at }
    }
}

impl Source for System {
    fn uid(&mut self) -> String {
        uid(&mut self.0)
    }

    fn suffix(&mut self) -> String {
        suffix(&mut self.0)
    }

    fn now(&mut self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&mut self) -> u64 {
        self.0.random()
    }
}

impl Source for Seeded {
    fn uid(&mut self) -> String {
        uid(&mut self.chance)
    }

    fn suffix(&mut self) -> String {
        suffix(&mut self.chance)
    }

    fn now(&mut self) -> Timestamp {
        let began = *self.began.get_or_insert_with(Instant::now);
        let passed = SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::ZERO);
        self.at.checked_add(passed).unwrap_or(self.at)
    }

    fn random(&mut self) -> u64 {
        self.chance.random()
    }
}

/// A random uid of version 4.
fn uid(chance: &mut StdRng) -> String {
    let random: u128 = chance.random();
    let marked = random & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{marked:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn suffix(chance: &mut StdRng) -> String {
    let one = |_| char::from(SUFFIX_CHARACTERS[chance.random_range(0..SUFFIX_CHARACTERS.len())]);
    (0..SUFFIX_LENGTH).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded() -> Seeded {
        Seeded::new(7, "2026-01-01T00:00:00Z".parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_seed_repeats_itself_and_time_follows_the_runtime() {
        let (mut one, mut other) = (seeded(), seeded());
        assert_eq!(one.uid(), other.uid());
        assert_eq!(one.suffix(), other.suffix());
        assert_eq!(one.now(), other.now());
        tokio::time::advance(std::time::Duration::from_secs(90)).await;
        assert_eq!(one.now().to_string(), "2026-01-01T00:01:30Z");
    }

    #[test]
    fn uids_are_of_version_4() {
        let uid = System::new().uid();
        assert_eq!(uid.len(), 36);
        assert_eq!(uid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uid.as_bytes()[19]));
    }
}
