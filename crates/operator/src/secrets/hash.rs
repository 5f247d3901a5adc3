//! `secretsHash`: whether the Secrets that a member uses have changed, without saying anything about what they hold.

use std::collections::BTreeMap;
use std::fmt::Write;

use k8s_openapi::ByteString;
use muster_api::limits::HASH_MAX;
use rand::CryptoRng;
use ring::hmac;

/// How long a key is: as long as the hash, more adds nothing.
pub const HASH_KEY_BYTES: usize = 32;

/// The key of a cluster's hashes. Without it nobody can try passwords until the hash in a Member's spec comes out.
#[derive(Clone, PartialEq, Eq)]
pub struct HashKey([u8; HASH_KEY_BYTES]);

impl HashKey {
    /// A new one.
    pub fn random(chance: &mut impl CryptoRng) -> Self {
        let mut key = [0; HASH_KEY_BYTES];
        chance.fill_bytes(&mut key);
        Self(key)
    }

    /// The one that these bytes are; nothing if they are too few or too many.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// As it is kept.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A key is not shown, not even by accident.
impl std::fmt::Debug for HashKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashKey(…)")
    }
}

/// The hash of these Secrets, by name. Each part is preceded by its length, so that no two different contents are the same
/// bytes; the maps are in order, so that the same contents are.
pub fn secrets_hash(key: &HashKey, secrets: &BTreeMap<String, BTreeMap<String, ByteString>>) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &key.0));
    let count = |count: usize, context: &mut hmac::Context| context.update(&(count as u64).to_be_bytes());
    count(secrets.len(), &mut context);
    for (name, data) in secrets {
        count(name.len(), &mut context);
        context.update(name.as_bytes());
        count(data.len(), &mut context);
        for (key, value) in data {
            for part in [key.as_bytes(), value.0.as_slice()] {
                count(part.len(), &mut context);
                context.update(part);
            }
        }
    }
    let hex = context.sign().as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    hex.chars().take(HASH_MAX as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    type Secrets = BTreeMap<String, BTreeMap<String, ByteString>>;

    fn key(seed: u64) -> HashKey {
        HashKey::random(&mut StdRng::seed_from_u64(seed))
    }

    fn secrets(all: &[(&str, &[(&str, &str)])]) -> Secrets {
        let bytes = |value: &str| ByteString(value.as_bytes().to_vec());
        let data = |data: &[(&str, &str)]| data.iter().map(|(k, v)| ((*k).into(), bytes(v))).collect();
        all.iter().map(|(name, pairs)| ((*name).into(), data(pairs))).collect()
    }

    #[test]
    fn it_fits_a_members_spec_and_depends_on_the_key() {
        let some = secrets(&[("orders-root", &[("password", "x")])]);
        let hash = secrets_hash(&key(1), &some);
        assert!(regex_like(&hash), "{hash}");
        assert_eq!(hash, secrets_hash(&key(1), &some));
        assert_ne!(hash, secrets_hash(&key(2), &some));
        assert_eq!(format!("{:?}", key(1)), "HashKey(…)");
    }

    fn regex_like(hash: &str) -> bool {
        hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    }

    #[test]
    fn what_moves_from_one_part_to_another_changes_it() {
        let all = [
            secrets(&[]),
            secrets(&[("a", &[])]),
            secrets(&[("a", &[("b", "c")])]),
            secrets(&[("ab", &[("", "c")])]),
            secrets(&[("a", &[("bc", "")])]),
            secrets(&[("a", &[("b", "")]), ("c", &[])]),
            secrets(&[("a", &[]), ("b", &[("c", "")])]),
            secrets(&[("a", &[("b", "c"), ("d", "")])]),
        ];
        let hashes: std::collections::BTreeSet<_> =
            all.iter().map(|one| secrets_hash(&key(1), one)).collect();
        assert_eq!(hashes.len(), all.len());
    }

    proptest! {
        #[test]
        fn different_contents_have_different_hashes(one in any_secrets(), other in any_secrets()) {
            let same = secrets_hash(&key(1), &one) == secrets_hash(&key(1), &other);
            prop_assert_eq!(same, one == other);
        }
    }

    fn any_secrets() -> impl Strategy<Value = Secrets> {
        let value = proptest::collection::vec(0_u8..3, 0..3).prop_map(ByteString);
        let data = proptest::collection::btree_map("[ab]{0,2}", value, 0..3);
        proptest::collection::btree_map("[ab]{0,2}", data, 0..3)
    }
}
