//! Who a certificate is of. Each part is a DNS label, so a name reads one way only, and no two clusters, namespaces or
//! roles have one in common.

use muster_protocol::tls;
use rustls::pki_types::ServerName;

use super::error::CertificateError;

/// A cluster, by its name and namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ClusterName {
    /// The cluster of this name in this namespace.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The Secret with its authority, as errors name it.
    pub fn secret(&self) -> String {
        format!("{}/{}-agent-ca", self.namespace, self.name)
    }

    /// What the operator is called by this cluster's agents.
    pub fn operator(&self) -> String {
        tls::operator_name(&self.namespace, &self.name)
    }

    /// What its authority calls itself.
    pub(super) fn authority(&self) -> String {
        format!("agent-ca.{}", tls::zone(&self.namespace, &self.name))
    }

    /// A member of it.
    pub fn member(&self, name: &str) -> MemberName {
        MemberName { cluster: self.clone(), name: name.to_owned() }
    }
}

/// A member of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberName {
    /// Its cluster.
    pub cluster: ClusterName,
    /// Its name.
    pub name: String,
}

impl MemberName {
    /// The one DNS name in its certificate.
    pub fn dns(&self) -> String {
        tls::member_name(&self.cluster.namespace, &self.cluster.name, &self.name)
    }

    /// The same, as TLS asks for it.
    pub fn server_name(&self) -> Result<ServerName<'static>, CertificateError> {
        server_name(&self.dns())
    }
}

/// A DNS name, as TLS has it.
pub(super) fn server_name(dns: &str) -> Result<ServerName<'static>, CertificateError> {
    ServerName::try_from(dns.to_owned()).map_err(|_| CertificateError::Name { name: dns.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_names_are_names() {
        let cluster = ClusterName::new(&"n".repeat(63), &"c".repeat(30));
        let member = cluster.member(&"m".repeat(52));
        assert!(member.dns().len() <= 253);
        member.server_name().unwrap();
        server_name(&cluster.operator()).unwrap();
        assert!(cluster.member("no member").server_name().is_err());
    }

    #[test]
    fn no_two_have_the_same_name() {
        let names = [
            ClusterName::new("shop", "orders").member("a").dns(),
            ClusterName::new("orders", "shop").member("a").dns(),
            ClusterName::new("shop", "a").member("orders").dns(),
            ClusterName::new("shop", "orders").operator(),
            ClusterName::new("shop", "members").operator(),
            ClusterName::new("shop", "orders").member("operator").dns(),
            ClusterName::new("shop", "orders").authority(),
        ];
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(names[0], "a.members.orders.shop.muster.dev");
    }
}
