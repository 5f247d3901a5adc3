//! The two ends of a connection: the operator, which insists on the very member, and the agent, which obeys only its operator.

use std::sync::Arc;

use jiff::Timestamp;
use rand::CryptoRng;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{
    CertificateError as Refused, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    RootCertStore, ServerConfig, SignatureScheme,
};

use super::ca::AgentCa;
use super::error::{CertificateError, Unusable};
use super::issuer::{Use, bytes, check_name, later, read_pair};
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
        let (roots, pair) = (read_roots(data)?, read_pair(data, TLS_CRT, TLS_KEY)?);
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
        let (certificate, key) = read_pair(data, TLS_CRT, TLS_KEY)?;
        check_name(&certificate, &member.dns()).map_err(|_| Unusable::OtherName(member.dns()))?;
        let verifier = OnlyOperator::new(read_roots(data)?, member.cluster.operator())?;
        server_config(verifier, certificate, key, clock).map_err(|_| Unusable::Unreadable(TLS_CRT))
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

fn server_config(
    verifier: OnlyOperator,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    clock: &SharedClock,
) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(default_provider());
    let mut config = ServerConfig::builder_with_details(provider, Arc::new(ClockTime(clock.clone())))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![certificate], key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// All certificates in `ca.crt`.
fn read_roots(data: &SecretData) -> Result<RootCertStore, Unusable> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bytes(data, CA_CRT)?) {
        let certificate = certificate.map_err(|_| Unusable::Unreadable(CA_CRT))?;
        roots.add(certificate).map_err(|_| Unusable::Unreadable(CA_CRT))?;
    }
    if roots.is_empty() { Err(Unusable::Unreadable(CA_CRT)) } else { Ok(roots) }
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

/// Lets in who has a certificate for commanding, of an authority that is trusted, in the name of the operator.
#[derive(Debug)]
struct OnlyOperator {
    issued: Arc<dyn ClientCertVerifier>,
    operator: String,
}

impl OnlyOperator {
    fn new(roots: RootCertStore, operator: String) -> Result<Self, Unusable> {
        let provider = Arc::new(default_provider());
        let issued = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Self { issued: issued.map_err(|_| Unusable::Unreadable(CA_CRT))?, operator })
    }
}

impl ClientCertVerifier for OnlyOperator {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.issued.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.issued.verify_client_cert(certificate, intermediates, now)?;
        check_name(certificate, &self.operator)
            .map_err(|_| Error::InvalidCertificate(Refused::NotValidForName))?;
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}
