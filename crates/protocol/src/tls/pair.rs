//! Certificates and keys as files and Secrets hold them.

use rustls::RootCertStore;
use rustls::client::verify_server_name;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;

/// What is wrong with a certificate or its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A key is not there.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// It is no PEM, or not what it should be.
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    /// The private key is another one's.
    #[error("the private key in {0} does not belong to the certificate")]
    OtherKey(&'static str),
    /// The certificate is for something else.
    #[error("the certificate is not for {0}")]
    OtherName(String),
    /// It was issued by another authority.
    #[error("the certificate was not issued by this cluster's authority")]
    OtherAuthority,
    /// Not now.
    #[error("the certificate begins in the future")]
    NotYet,
    /// Not any more, or not for long.
    #[error("the certificate ends, or has ended, at {0}")]
    Ends(jiff::Timestamp),
    /// What the member trusts is not what it should.
    #[error("ca.crt does not hold the authorities that are in use")]
    OtherTrust,
}

/// A certificate and its private key, in PEM, which belong together; each with the name by which errors call it.
pub fn read_pair(
    (crt, certificate): (&'static str, &[u8]),
    (key, private): (&'static str, &[u8]),
) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), Unusable> {
    let certificate = CertificateDer::from_pem_slice(certificate).map_err(|_| Unusable::Unreadable(crt))?;
    let private = PrivateKeyDer::from_pem_slice(private).map_err(|_| Unusable::Unreadable(key))?;
    ParsedCertificate::try_from(&certificate).map_err(|_| Unusable::Unreadable(crt))?;
    keys_match(&certificate, (key, &private))?;
    Ok((certificate, private))
}

/// Whether the key belongs to the certificate.
fn keys_match(
    certificate: &CertificateDer<'static>,
    (key, private): (&'static str, &PrivateKeyDer<'static>),
) -> Result<(), Unusable> {
    let signer = any_supported_type(private).map_err(|_| Unusable::Unreadable(key))?;
    let pair = CertifiedKey::new(vec![certificate.clone()], signer);
    pair.keys_match().map_err(|_| Unusable::OtherKey(key))
}

/// All certificates in this PEM, to trust them; errors call it by this name.
pub fn read_roots((ca, pem): (&'static str, &[u8])) -> Result<RootCertStore, Unusable> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| Unusable::Unreadable(ca))?;
        roots.add(certificate).map_err(|_| Unusable::Unreadable(ca))?;
    }
    if roots.is_empty() { Err(Unusable::Unreadable(ca)) } else { Ok(roots) }
}

/// Whether the certificate is for this name.
pub fn check_name(certificate: &CertificateDer<'_>, name: &str) -> Result<(), Unusable> {
    let other = || Unusable::OtherName(name.to_owned());
    let parsed = ParsedCertificate::try_from(certificate).map_err(|_| other())?;
    let asked = ServerName::try_from(name.to_owned()).map_err(|_| other())?;
    verify_server_name(&parsed, &asked).map_err(|_| other())
}
