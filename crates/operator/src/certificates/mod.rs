//! Certificates between the operator and the agents: an authority for each cluster, a certificate for each member, and one for the operator.
//!
//! | what | where | lasts | is made anew |
//! |---|---|---|---|
//! | authority of a cluster's agents ([`AgentCa`]) | Secret `<cluster>-agent-ca` | [`AUTHORITY_LASTS`] | [`AUTHORITY_SPARE`] before its end |
//! | a member's ([`issue_member`]) | Secret `<member>-agent` | [`MEMBER_LASTS`] | [`MEMBER_SPARE`] before its end, or when it is not what it should be |
//! | the operator's ([`OperatorTls`]) | in memory | [`OPERATOR_LASTS`] | at each start, and [`OPERATOR_SPARE`] before its end |
//!
//! A new authority replaces the old one in steps that only depend on its age, so that a restart in the middle changes nothing. From the
//! first day members are issued certificates by the new one, and everyone trusts both. The operator shows a certificate of the old one
//! for [`OVERLAP`]: by then every agent has loaded what its Secret holds. After twice that time nobody trusts the old one any more.
//!
//! The operator asks for the member by name, whatever address it dials, and refuses another member of the same cluster. An agent takes
//! commands only from the operator of its own cluster: another member's certificate is for serving only, and has another name.
//! Both speak TLS 1.3 and resume no session, so that every connection is checked in full.
//!
//! Time and chance are arguments. Keys are Ed25519, which are 32 random bytes.

mod ca;
mod error;
mod hash_key;
mod issuer;
mod member;
mod names;
#[cfg(test)]
mod tests;
mod tls;
mod validity;

use std::time::Duration;

pub use ca::AgentCa;
pub use error::{CertificateError, Unusable};
pub use hash_key::{HASH_KEY_BYTES, HashKey};
pub use member::{check_member, issue_member};
pub use muster_protocol::tls::{CA_CRT, TLS_CRT, TLS_KEY};
pub use names::{ClusterName, MemberName};
pub use tls::{OperatorTls, agent_config, external_config};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long an authority lasts: longer than most clusters live.
pub const AUTHORITY_LASTS: Duration = Duration::from_secs(3650 * DAY.as_secs());
/// When an authority is replaced, before its end: far longer than [`MEMBER_LASTS`] and twice [`OVERLAP`] together.
pub const AUTHORITY_SPARE: Duration = Duration::from_secs(365 * DAY.as_secs());
/// How long agents that have not loaded the new authority yet still understand the operator.
pub const OVERLAP: Duration = Duration::from_secs(30 * DAY.as_secs());
/// How long a member's certificate lasts.
pub const MEMBER_LASTS: Duration = Duration::from_secs(90 * DAY.as_secs());
/// When a member's certificate is replaced, before its end: an operator may be away for a while.
pub const MEMBER_SPARE: Duration = Duration::from_secs(30 * DAY.as_secs());
/// How long the operator's certificate lasts: it is in memory only, and costs nothing to make.
pub const OPERATOR_LASTS: Duration = Duration::from_secs(7 * DAY.as_secs());
/// When the operator's certificate is replaced, before its end.
pub const OPERATOR_SPARE: Duration = Duration::from_secs(2 * DAY.as_secs());
/// A certificate begins this much in the past, for clocks that are behind.
pub const BEGINS_BEFORE: Duration = Duration::from_secs(60 * 60);
/// In the authority's Secret: the key of `secretsHash`.
pub const HASH_KEY: &str = "hash.key";
/// In the authority's Secret, while one authority replaces another: the old one, and its key.
pub const PREVIOUS_CRT: &str = "previous.crt";
/// See [`PREVIOUS_CRT`].
pub const PREVIOUS_KEY: &str = "previous.key";

/// What a Secret holds.
pub type SecretData = std::collections::BTreeMap<String, k8s_openapi::ByteString>;
