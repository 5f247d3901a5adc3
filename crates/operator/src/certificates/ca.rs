//! The authority of a cluster's agents, as its Secret holds it: the one in use, for a while the one before it, and the key of `secretsHash`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use rand::CryptoRng;
use rustls::RootCertStore;

use super::error::{CertificateError, Unusable};
use super::hash_key::HashKey;
use super::issuer::{Authority, bytes, later};
use super::names::ClusterName;
use super::{AUTHORITY_SPARE, HASH_KEY, OVERLAP, PREVIOUS_CRT, PREVIOUS_KEY, SecretData, TLS_CRT, TLS_KEY};

/// The authority of a cluster's agents.
pub struct AgentCa {
    cluster: ClusterName,
    current: Authority,
    previous: Option<Authority>,
    hash_key: HashKey,
}

impl AgentCa {
    /// A new one.
    pub fn new(
        cluster: &ClusterName,
        now: Timestamp,
        chance: &mut impl CryptoRng,
    ) -> Result<Self, CertificateError> {
        let current = Authority::new(cluster, now, chance)?;
        let hash_key = HashKey::random(chance);
        Ok(Self { cluster: cluster.clone(), current, previous: None, hash_key })
    }

    /// The one that the cluster's Secret holds.
    pub fn read(cluster: &ClusterName, data: &SecretData) -> Result<Self, CertificateError> {
        let parts = || {
            let current = Authority::read(cluster, data, TLS_CRT, TLS_KEY)?;
            let replaces = data.contains_key(PREVIOUS_CRT);
            let previous = replaces.then(|| Authority::read(cluster, data, PREVIOUS_CRT, PREVIOUS_KEY));
            let hash_key = HashKey::read(bytes(data, HASH_KEY)?).ok_or(Unusable::Unreadable(HASH_KEY))?;
            Ok(Self { cluster: cluster.clone(), current, previous: previous.transpose()?, hash_key })
        };
        parts().map_err(|why| CertificateError::Authority { secret: cluster.secret(), why })
    }

    /// What the Secret is to hold.
    pub fn data(&self) -> SecretData {
        let mut data = SecretData::new();
        let mut put = |key: &str, value: &[u8]| data.insert(key.to_owned(), ByteString(value.to_vec()));
        put(TLS_CRT, self.current.pem.as_bytes());
        put(TLS_KEY, self.current.key_pem().as_bytes());
        put(HASH_KEY, self.hash_key.as_bytes());
        if let Some(previous) = &self.previous {
            put(PREVIOUS_CRT, previous.pem.as_bytes());
            put(PREVIOUS_KEY, previous.key_pem().as_bytes());
        }
        data
    }

    /// Whether it is to be replaced, or what it replaced is to go.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let ends = later(now, AUTHORITY_SPARE) >= self.current.validity.ends;
        ends || self.previous.is_some() && self.age(now) >= to_signed(OVERLAP * 2)
    }

    /// Replaces it in time, and gets rid of what it replaced; true if its Secret is to be written, before anything is
    /// issued by it.
    pub fn rotate(&mut self, now: Timestamp, chance: &mut impl CryptoRng) -> Result<bool, CertificateError> {
        if later(now, AUTHORITY_SPARE) >= self.current.validity.ends {
            let new = Authority::new(&self.cluster, now, chance)?;
            self.previous = Some(std::mem::replace(&mut self.current, new));
            return Ok(true);
        }
        let over = self.previous.is_some() && self.age(now) >= to_signed(OVERLAP * 2);
        if over {
            self.previous = None;
        }
        Ok(over)
    }

    /// The certificates that members and the operator trust: the one in use, and the one before it.
    pub fn bundle(&self) -> String {
        let previous = self.previous.as_ref().map_or("", |previous| &previous.pem);
        format!("{}{previous}", self.current.pem)
    }

    /// The key of `secretsHash`.
    pub fn hash_key(&self) -> &HashKey {
        &self.hash_key
    }

    /// Whose it is.
    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// The one that issues certificates for members.
    pub(super) fn for_members(&self) -> &Authority {
        &self.current
    }

    /// The one that every agent knows already.
    pub(super) fn for_the_operator(&self, now: Timestamp) -> &Authority {
        let known = |previous: &&Authority| {
            self.age(now) < to_signed(OVERLAP) && previous.validity.ends > later(now, OVERLAP)
        };
        self.previous.as_ref().filter(known).unwrap_or(&self.current)
    }

    /// All that are trusted.
    pub(super) fn roots(&self) -> Result<RootCertStore, CertificateError> {
        let mut roots = RootCertStore::empty();
        for authority in [Some(&self.current), self.previous.as_ref()].into_iter().flatten() {
            roots.add(authority.certificate.clone()).map_err(CertificateError::making)?;
        }
        Ok(roots)
    }

    /// For how long the one in use has been.
    fn age(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.current.validity.begins)
    }
}

fn to_signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
