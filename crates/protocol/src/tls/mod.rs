//! The agent's end of a connection, and the names in certificates: what operator and agent must agree on.
//!
//! It is here and not in the operator because the agent must not depend on the operator, which speaks with API servers. The operator
//! makes certificates and holds the other end.

mod pair;
mod serving;

pub use pair::{Unusable, check_name, read_pair, read_roots};
pub use serving::{Credentials, agent_config};

/// In a Secret: the certificates that are trusted.
pub const CA_CRT: &str = "ca.crt";
/// In a Secret: the certificate.
pub const TLS_CRT: &str = "tls.crt";
/// In a Secret: its private key.
pub const TLS_KEY: &str = "tls.key";

/// Under which all names are. Nobody looks them up; an address is dialled, and the name is what the certificate must say.
const DOMAIN: &str = "muster.dev";

/// Under which all names of a cluster are. Each part is a DNS label, so a name reads one way only, and no two clusters,
/// namespaces or roles have one in common.
pub fn zone(namespace: &str, cluster: &str) -> String {
    format!("{cluster}.{namespace}.{DOMAIN}")
}

/// What the operator is called by this cluster's agents.
pub fn operator_name(namespace: &str, cluster: &str) -> String {
    format!("operator.{}", zone(namespace, cluster))
}

/// The one DNS name in a member's certificate.
pub fn member_name(namespace: &str, cluster: &str, member: &str) -> String {
    format!("{member}.members.{}", zone(namespace, cluster))
}
