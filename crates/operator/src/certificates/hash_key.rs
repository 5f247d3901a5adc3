//! The key of `secretsHash`, which is kept beside the authority. The hash itself is `muster_core::build::secrets::hash`.

use rand::CryptoRng;

/// How long a key is: as long as the hash, more adds nothing.
pub const HASH_KEY_BYTES: usize = 32;

/// The key of a cluster's hashes. Without it nobody can try passwords until the hash in a Member's spec comes out.
#[derive(Clone, PartialEq, Eq)]
pub struct HashKey([u8; HASH_KEY_BYTES]);

impl HashKey {
    /// A new one.
    pub(super) fn random(chance: &mut impl CryptoRng) -> Self {
        let mut key = [0; HASH_KEY_BYTES];
        chance.fill_bytes(&mut key);
        Self(key)
    }

    /// The one that these bytes are; nothing if they are too few or too many.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// As it is kept, and as the hash takes it.
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
