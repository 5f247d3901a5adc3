//! Secrets: accounts of the application, the agents' CA, a member's certificate, and which Secrets a member uses.
//!
//! Accounts belong to the data, so they have no owner; they are made once and never overwritten. Chance comes from
//! outside.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use muster_api::engine::{EngineSecret, ReplicationEngineSpec};
use muster_api::{Member, ReplicatedCluster};
use ring::hmac;

use super::{hex, names, owners};

/// The certificate of the CA, in a member's Secret.
pub const CA_CERTIFICATE: &str = "ca.crt";
/// A certificate.
pub const CERTIFICATE: &str = "tls.crt";
/// Its private key.
pub const PRIVATE_KEY: &str = "tls.key";
/// The key of [`hash`], in the Secret of the agents' CA.
pub const HASH_KEY: &str = "hash.key";

/// What generated values are made of: characters that no shell, file or connection string gives a meaning to.
const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Data of a Secret, by key.
pub type Data = BTreeMap<String, Vec<u8>>;

/// Fills the bytes with chance that nobody can guess.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;

fn secret(metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta, data: Data) -> Secret {
    let data = data.into_iter().map(|(key, value)| (key, ByteString(value))).collect();
    Secret { metadata, data: Some(data), type_: Some("Opaque".to_owned()), ..Secret::default() }
}

/// An account Secret, to be created where there is none.
pub fn account(cluster: &ReplicatedCluster, wanted: &EngineSecret, random: &mut Random<'_>) -> Secret {
    let of = names::of_cluster(cluster);
    let name = names::account_secret(of, &wanted.name);
    let metadata = names::metadata(name, cluster.metadata.namespace.as_ref(), names::cluster_labels(of));
    let value = |key: &muster_api::engine::EngineSecretKey| (key.name.clone(), word(key.length, random));
    let data = wanted.keys.iter().map(value).collect();
    secret(metadata, data)
}

/// The keys that an account Secret lacks, for an engine that asks for more than when it was made. What is there is never
/// overwritten.
pub fn missing(live: &Secret, wanted: &EngineSecret, random: &mut Random<'_>) -> Data {
    let there = |key: &str| live.data.as_ref().is_some_and(|data| data.contains_key(key));
    let lacking = wanted.keys.iter().filter(|key| !there(&key.name));
    lacking.map(|key| (key.name.clone(), word(key.length, random))).collect()
}

/// So many letters and digits. Of four random bytes for each, what is left over of an even choice is below one in sixty
/// million.
fn word(length: i32, random: &mut Random<'_>) -> Vec<u8> {
    let letter = |_| {
        let mut bytes = [0; 4];
        random(&mut bytes);
        let scaled = u64::from(u32::from_be_bytes(bytes)) * ALPHABET.len() as u64;
        let index = usize::try_from(scaled >> 32).unwrap_or_default();
        ALPHABET.get(index).copied().unwrap_or(b'0')
    };
    (0..length.max(0)).map(letter).collect()
}

/// The Secret of the agents' CA; its private key is mounted nowhere.
pub fn agent_ca(
    cluster: &ReplicatedCluster,
    certificate: &str,
    private_key: &str,
    hash_key: &[u8],
) -> Secret {
    let of = names::of_cluster(cluster);
    let metadata =
        names::metadata(names::agent_ca(of), cluster.metadata.namespace.as_ref(), names::cluster_labels(of));
    let data = BTreeMap::from([
        (CERTIFICATE.to_owned(), certificate.as_bytes().to_vec()),
        (PRIVATE_KEY.to_owned(), private_key.as_bytes().to_vec()),
        (HASH_KEY.to_owned(), hash_key.to_vec()),
    ]);
    secret(owners::owned(metadata, owners::by_cluster(cluster)), data)
}

/// The Secret with a Member's certificate.
pub fn agent(member: &Member, ca_certificate: &str, certificate: &str, private_key: &str) -> Secret {
    let name = names::agent_secret(names::of_member(member));
    let metadata = names::metadata(name, member.metadata.namespace.as_ref(), names::member_labels(member));
    let data = BTreeMap::from([
        (CA_CERTIFICATE.to_owned(), ca_certificate.as_bytes().to_vec()),
        (CERTIFICATE.to_owned(), certificate.as_bytes().to_vec()),
        (PRIVATE_KEY.to_owned(), private_key.as_bytes().to_vec()),
    ]);
    secret(owners::owned(metadata, owners::by_member(member)), data)
}

/// The names of all Secrets whose contents the members of a cluster use, so that a change of one rolls them.
pub fn used_by_members(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> BTreeSet<String> {
    let mut used = of_engine(cluster, engine);
    used.extend(named_by(cluster));
    used
}

fn of_engine(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> BTreeSet<String> {
    let of = names::of_cluster(cluster);
    let own: Vec<String> = engine.secrets.iter().map(|secret| secret.name.clone()).collect();
    let resolve = super::pod::Secrets { cluster: of, names: &own };
    let mut used: BTreeSet<String> = own.iter().map(|name| names::account_secret(of, name)).collect();
    let volumes = engine.template.volumes.iter().filter_map(|volume| volume.secret.as_ref());
    used.extend(volumes.map(|source| resolve.resolve(&source.name)));
    used
}

/// The names of the Secrets that a cluster's spec names itself.
pub fn named_by(cluster: &ReplicatedCluster) -> BTreeSet<String> {
    let spec = &cluster.spec;
    let replication = spec.replication.iter();
    let targets = replication.clone().flat_map(|replication| &replication.targets);
    let credentials = replication.filter_map(|replication| replication.credentials.as_ref());
    let all = spec.certificate_authority.iter().chain(credentials);
    let all = all.chain(targets.filter_map(|target| target.credentials.as_ref()));
    all.map(|named| named.secret_name.clone()).collect()
}

/// Stands for the contents of Secrets, by name: without the key nobody can find out by trying whether a password is in
/// them. `None` where there are none.
pub fn hash(key: &[u8], secrets: &BTreeMap<String, BTreeMap<String, ByteString>>) -> Option<String> {
    if secrets.is_empty() {
        return None;
    }
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    let mut add = |bytes: &[u8]| {
        context.update(&(bytes.len() as u64).to_be_bytes());
        context.update(bytes);
    };
    for (name, data) in secrets {
        add(name.as_bytes());
        add(&(data.len() as u64).to_be_bytes());
        for (key, value) in data {
            add(key.as_bytes());
            add(&value.0);
        }
    }
    Some(hex::digits(context.sign().as_ref()))
}
