//! Why there is no certificate, and what to do about it.

pub use muster_protocol::tls::Unusable;

/// Why a certificate cannot be read, made or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The Secret with the cluster's authority holds something else.
    #[error(
        "Secret {secret} does not hold the authority of this cluster's agents: {why}. Put back what it held; or delete it, then a \
         new one is made, and every member restarts once"
    )]
    Authority {
        /// Namespace and name.
        secret: String,
        /// What is wrong.
        why: Unusable,
    },
    /// The Secret with the credentials for an external member holds something else.
    #[error(
        "Secret {secret} does not hold credentials for an external member: {why}. It must hold ca.crt, tls.crt and tls.key, in PEM"
    )]
    Credentials {
        /// Namespace and name.
        secret: String,
        /// What is wrong.
        why: Unusable,
    },
    /// What an agent was given to serve with is of no use.
    #[error("{member} cannot serve with the certificate it was given: {why}; the operator makes a new one")]
    Member {
        /// The member, by its name in certificates.
        member: String,
        /// What is wrong.
        why: Unusable,
    },
    /// A name that TLS cannot ask for. The API server takes no such names.
    #[error("{name:?} is not a DNS name")]
    Name {
        /// The name.
        name: String,
    },
    /// A certificate cannot be made.
    #[error("a certificate cannot be made: {0}")]
    Making(String),
}

impl CertificateError {
    pub(super) fn making(error: impl std::fmt::Display) -> Self {
        Self::Making(error.to_string())
    }
}
