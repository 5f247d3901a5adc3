//! The accounts of an engine: random letters and digits, each as likely as any other.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use muster_api::engine::EngineSecretKey;
use muster_api::limits::{SECRET_LENGTH_MAX, SECRET_LENGTH_MIN};
use rand::CryptoRng;
use rand::distr::{Alphanumeric, SampleString};

/// A value for each of these keys. What lives in the cluster is never overwritten, so this is asked for once.
pub fn account(keys: &[EngineSecretKey], chance: &mut impl CryptoRng) -> BTreeMap<String, ByteString> {
    let mut value = |key: &EngineSecretKey| {
        // The schema bounds it; an engine that was stored under an older one is held to it here.
        let length = key.length.clamp(SECRET_LENGTH_MIN, SECRET_LENGTH_MAX);
        Alphanumeric.sample_string(chance, usize::try_from(length).unwrap_or_default())
    };
    keys.iter().map(|key| (key.name.clone(), ByteString(value(key).into_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    fn key(name: &str, length: i32) -> EngineSecretKey {
        EngineSecretKey { name: name.into(), length }
    }

    #[test]
    fn every_key_gets_a_value_of_its_own_of_the_asked_length() {
        let mut chance = StdRng::seed_from_u64(1);
        let made = account(&[key("user", 16), key("password", 128)], &mut chance);
        let lengths: Vec<_> = made.iter().map(|(name, value)| (name.as_str(), value.0.len())).collect();
        assert_eq!(lengths, [("password", 128), ("user", 16)]);
        assert!(made.values().flat_map(|value| &value.0).all(u8::is_ascii_alphanumeric));
        assert_ne!(account(&[key("user", 16)], &mut chance)["user"], made["user"]);
    }

    #[test]
    fn lengths_that_are_unsafe_or_endless_are_bounded() {
        let mut chance = StdRng::seed_from_u64(1);
        let made = account(&[key("a", -5), key("b", i32::MAX)], &mut chance);
        assert_eq!((made["a"].0.len(), made["b"].0.len()), (16, 128));
    }

    #[test]
    fn no_character_is_likelier_than_another() {
        let mut chance = StdRng::seed_from_u64(1);
        let mut counts = BTreeMap::<u8, u32>::new();
        for _ in 0..2_000 {
            for byte in &account(&[key("a", 62)], &mut chance)["a"].0 {
                *counts.entry(*byte).or_default() += 1;
            }
        }
        // 2,000 of each are expected; five standard deviations are 223.
        assert_eq!(counts.len(), 62);
        assert!(counts.values().all(|count| count.abs_diff(2_000) < 223), "{counts:?}");
    }
}
