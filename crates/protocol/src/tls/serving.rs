//! How an agent serves: TLS 1.3, no resumption, to the operator of its own cluster and to nobody else.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{
    CertificateError as Refused, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    ServerConfig, SignatureScheme,
};

use super::pair::{Unusable, check_name, read_pair, read_roots};
use super::{CA_CRT, TLS_CRT, TLS_KEY};

/// What an agent is given, in PEM.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    /// The authorities of whom it trusts.
    pub ca: &'a [u8],
    /// Its certificate.
    pub certificate: &'a [u8],
    /// Its private key.
    pub key: &'a [u8],
}

/// How the agent that is called `member` serves the operator that is called `operator`, by this clock.
pub fn agent_config(
    credentials: Credentials<'_>,
    member: &str,
    operator: &str,
    clock: Arc<dyn TimeProvider>,
) -> Result<Arc<ServerConfig>, Unusable> {
    let (certificate, key) = read_pair((TLS_CRT, credentials.certificate), (TLS_KEY, credentials.key))?;
    check_name(&certificate, member)?;
    let verifier = OnlyOperator::new(read_roots((CA_CRT, credentials.ca))?, operator.to_owned())?;
    server_config(verifier, certificate, key, clock).map_err(|_| Unusable::Unreadable(TLS_CRT))
}

fn server_config(
    verifier: OnlyOperator,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    clock: Arc<dyn TimeProvider>,
) -> Result<Arc<ServerConfig>, Error> {
    let mut config = ServerConfig::builder_with_details(Arc::new(default_provider()), clock)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![certificate], key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
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
