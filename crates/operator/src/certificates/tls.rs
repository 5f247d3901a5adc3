//! The two ends of a connection: the operator, which insists on the very member, and the agent, which obeys only its operator.

use std::sync::Arc;

use jiff::Timestamp;
use muster_protocol::tls;
use rand::CryptoRng;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::ca::AgentCa;
use super::error::{CertificateError, Unusable};
use super::issuer::{Use, bytes, later, read_pair};
use super::member::unix;
use super::names::MemberName;
use super::{CA_CRT, OPERATOR_LASTS, OPERATOR_SPARE, SecretData, TLS_CRT, TLS_KEY};
use crate::clock::SharedClock;

/// How the operator speaks to the agents of one cluster: with a certificate that is in memory only. A connection asks for
/// [`MemberName::server_name`], whatever address it goes to.
pub struct OperatorTls {
    config: Arc<ClientConfig>,
    due: Timestamp,
    bundle: String,
}

impl OperatorTls {
    /// With a new certificate.
    pub fn new(
        ca: &AgentCa,
        clock: &SharedClock,
        chance: &mut impl CryptoRng,
    ) -> Result<Self, CertificateError> {
        let now = clock.now();
        let name = ca.cluster().operator();
        let issued = ca.for_the_operator(now).issue(&name, Use::Commanding, OPERATOR_LASTS, now, chance)?;
        let pair = (issued.certificate.clone(), issued.private_key());
        let config = client_config(ca.roots()?, pair, clock).map_err(CertificateError::making)?;
        let due = later(now, OPERATOR_LASTS.saturating_sub(OPERATOR_SPARE));
        Ok(Self { config, due, bundle: ca.bundle() })
    }

    /// For a connection to any member of the cluster.
    pub fn config(&self) -> Arc<ClientConfig> {
        self.config.clone()
    }

    /// Whether another one is to be made: its certificate ends soon, or the authority has changed.
    pub fn is_due(&self, ca: &AgentCa, now: Timestamp) -> bool {
        now >= self.due || self.bundle != ca.bundle()
    }
}

/// How the operator speaks to an external member, with the credentials in this Secret (namespace and name).
pub fn external_config(
    secret: &str,
    data: &SecretData,
    clock: &SharedClock,
) -> Result<Arc<ClientConfig>, CertificateError> {
    let config = || {
        let roots = tls::read_roots((CA_CRT, bytes(data, CA_CRT)?))?;
        let pair = read_pair(data, TLS_CRT, TLS_KEY)?;
        client_config(roots, pair, clock).map_err(|_| Unusable::Unreadable(TLS_CRT))
    };
    config().map_err(|why| CertificateError::Credentials { secret: secret.to_owned(), why })
}

/// How a member's agent serves, with what its Secret holds: to the operator of its cluster and to nobody else.
pub fn agent_config(
    data: &SecretData,
    member: &MemberName,
    clock: &SharedClock,
) -> Result<Arc<ServerConfig>, CertificateError> {
    let config = || {
        let (ca, certificate, key) = (bytes(data, CA_CRT)?, bytes(data, TLS_CRT)?, bytes(data, TLS_KEY)?);
        let credentials = tls::Credentials { ca, certificate, key };
        let clock = Arc::new(ClockTime(clock.clone()));
        tls::agent_config(credentials, &member.dns(), &member.cluster.operator(), clock)
    };
    config().map_err(|why| CertificateError::Member { member: member.dns(), why })
}

type Pair = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn client_config(roots: RootCertStore, pair: Pair, clock: &SharedClock) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let verifier = verifier.build().map_err(|error| error.to_string())?;
    let (certificate, key) = pair;
    let mut config = ClientConfig::builder_with_details(provider, Arc::new(ClockTime(clock.clone())))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .with_webpki_verifier(verifier)
        .with_client_auth_cert(vec![certificate], key)
        .map_err(|error| error.to_string())?;
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// The clock by which certificates begin and end.
struct ClockTime(SharedClock);

impl TimeProvider for ClockTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(unix(self.0.now()))
    }
}

impl std::fmt::Debug for ClockTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClockTime")
    }
}
