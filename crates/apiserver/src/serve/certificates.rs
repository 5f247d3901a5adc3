//! The certificate authority of this server, and the certificates it serves with.
//!
//! Only the authority is kept: clients trust it by their kubeconfig. A serving certificate is made at each start, and anew
//! before it expires, and its key never leaves memory.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;

use super::files::{self, FileError};
use super::validity;

/// What a client may call this server.
const NAMES: [&str; 6] =
    ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
/// An authority outlives most installations; it cannot be renewed without every client's kubeconfig.
const AUTHORITY_DAYS: i64 = 3650;
/// A kept authority with less than this is made anew at the start: a server may run for long.
const AUTHORITY_SPARE_DAYS: i64 = 365;
/// As long as the certificates of kube-apiserver itself.
const SERVING_DAYS: i64 = 365;
/// A serving certificate with less than this is made anew: clocks differ, and clients keep connections.
pub(super) const SERVING_SPARE_DAYS: i64 = 30;
/// A certificate begins this much in the past, for clients whose clock is behind.
const BEGINS_DAYS_AGO: i64 = 1;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The files cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The files hold something else, or do not belong together.
    #[error(
        "{directory} does not hold a certificate authority ({why}): remove ca.crt and ca.key, and a new one is made"
    )]
    Damaged {
        /// Where they are.
        directory: String,
        /// What is wrong with them.
        why: String,
    },
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Making(String),
}

fn making(error: impl std::fmt::Display) -> CertificateError {
    CertificateError::Making(error.to_string())
}

/// A certificate authority of one's own.
pub(super) struct Authority {
    certificate: CertificateDer<'static>,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new one, in memory.
    pub(super) fn new(now: Timestamp) -> Result<Self, CertificateError> {
        let key = KeyPair::generate().map_err(making)?;
        let parameters = authority_parameters(now)?;
        let certificate = parameters.self_signed(&key).map_err(making)?;
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Ok(Self { certificate: der, pem, issuer: Issuer::new(parameters, key) })
    }

    /// The one kept in this directory, made if there is none or if it ends soon.
    pub(super) fn kept_in(directory: &Path, now: Timestamp) -> Result<Self, CertificateError> {
        let (certificate, key) = (directory.join("ca.crt"), directory.join("ca.key"));
        if let (Some(pem), Some(key)) = (files::read(&certificate)?, files::read(&key)?) {
            let authority = Self::read(pem, &key, now).map_err(|why| CertificateError::Damaged {
                directory: directory.display().to_string(),
                why,
            })?;
            if authority.lasts_until()? > after_days(now, AUTHORITY_SPARE_DAYS)? {
                return Ok(authority);
            }
        }
        // The key goes first: a certificate without its key is of no use, and makes no trouble at the next start.
        let authority = Self::new(now)?;
        files::write_private(&key, &authority.issuer.key().serialize_pem())?;
        files::write_private(&certificate, &authority.pem)?;
        Ok(authority)
    }

    fn read(pem: String, key: &str, now: Timestamp) -> Result<Self, String> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|e| e.to_string())?;
        let key = KeyPair::from_pem(key).map_err(|e| e.to_string())?;
        let parameters = authority_parameters(now).map_err(|e| e.to_string())?;
        let authority = Self { certificate, pem, issuer: Issuer::new(parameters, key) };
        // A certificate that is issued now must convince a client that trusts the one on disk.
        let issued = authority.issue(now).map_err(|e| e.to_string())?;
        authority
            .verify(&issued, now)
            .map_err(|why| format!("the key does not fit the certificate: {why}"))?;
        Ok(authority)
    }

    /// The certificate that clients trust.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    fn lasts_until(&self) -> Result<Timestamp, CertificateError> {
        validity::ends(&self.certificate).ok_or_else(|| making("it has no end"))
    }

    /// A certificate to serve with.
    pub(super) fn issue(&self, now: Timestamp) -> Result<Arc<CertifiedKey>, CertificateError> {
        let mut parameters = CertificateParams::new(NAMES.map(str::to_owned)).map_err(making)?;
        parameters.distinguished_name = named("muster-apiserver");
        date(&mut parameters, now, SERVING_DAYS)?;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(making)?;
        let certificate = parameters.signed_by(&key, &self.issuer).map_err(making)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(making)?;
        let key = sign::any_supported_type(&key).map_err(making)?;
        Ok(Arc::new(CertifiedKey::new(vec![certificate.der().clone()], key)))
    }

    /// Asks what a client would ask.
    fn verify(&self, issued: &CertifiedKey, now: Timestamp) -> Result<(), String> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).map_err(|e| e.to_string())?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()))
                .build()
                .map_err(|e| e.to_string())?;
        let name = ServerName::try_from("localhost").map_err(|e| e.to_string())?;
        let now = std::time::Duration::from_secs(u64::try_from(now.as_second()).unwrap_or(0));
        let certificate = issued.cert.first().ok_or("there is none")?;
        let now = UnixTime::since_unix_epoch(now);
        verifier.verify_server_cert(certificate, &[], &name, &[], now).map_err(|e| e.to_string())?;
        Ok(())
    }
}

/// The same each time but for the dates, so that an authority can be read again without reading its certificate.
fn authority_parameters(now: Timestamp) -> Result<CertificateParams, CertificateError> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = named("muster-ca");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    date(&mut parameters, now, AUTHORITY_DAYS)?;
    Ok(parameters)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// This many days later.
pub(super) fn after_days(now: Timestamp, days: i64) -> Result<Timestamp, CertificateError> {
    Timestamp::from_second(now.as_second() + days * DAY_SECONDS).map_err(making)
}

/// From yesterday on, for this many days; rcgen takes whole days only.
fn date(parameters: &mut CertificateParams, now: Timestamp, days: i64) -> Result<(), CertificateError> {
    let day = |days| {
        let date = TimeZone::UTC.to_datetime(after_days(now, days)?).date();
        let [month, day] = [date.month(), date.day()].map(|part| u8::try_from(part).unwrap_or(1));
        Ok::<_, CertificateError>((i32::from(date.year()), month, day))
    };
    let ((year, month, first), (end_year, end_month, last)) = (day(-BEGINS_DAYS_AGO)?, day(days)?);
    parameters.not_before = rcgen::date_time_ymd(year, month, first);
    parameters.not_after = rcgen::date_time_ymd(end_year, end_month, last);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::scratch::Scratch;

    fn now() -> Timestamp {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_kept_authority_stays_until_it_ends_soon() {
        let scratch = Scratch::new();
        let first = Authority::kept_in(scratch.path(), now()).unwrap();
        let second = Authority::kept_in(scratch.path(), now()).unwrap();
        assert_eq!(first.pem(), second.pem());
        let issued = second.issue(now()).unwrap();
        first.verify(&issued, now()).unwrap();
        let late = after_days(now(), AUTHORITY_DAYS - AUTHORITY_SPARE_DAYS + 1).unwrap();
        let third = Authority::kept_in(scratch.path(), late).unwrap();
        assert_ne!(first.pem(), third.pem());
        assert!(third.lasts_until().unwrap() > after_days(late, AUTHORITY_DAYS - 2).unwrap());
    }

    #[test]
    fn a_key_that_belongs_to_another_certificate_is_refused() {
        let (scratch, other) = (Scratch::new(), Scratch::new());
        Authority::kept_in(scratch.path(), now()).unwrap();
        Authority::kept_in(other.path(), now()).unwrap();
        std::fs::copy(other.path().join("ca.key"), scratch.path().join("ca.key")).unwrap();
        let error = Authority::kept_in(scratch.path(), now()).err().unwrap();
        assert!(matches!(error, CertificateError::Damaged { .. }), "{error}");
    }

    #[test]
    fn a_serving_certificate_ends_and_others_do_not_vouch_for_it() {
        let authority = Authority::new(now()).unwrap();
        let issued = authority.issue(now()).unwrap();
        authority.verify(&issued, after_days(now(), SERVING_DAYS - 1).unwrap()).unwrap();
        authority.verify(&issued, after_days(now(), SERVING_DAYS + 1).unwrap()).unwrap_err();
        Authority::new(now()).unwrap().verify(&issued, now()).unwrap_err();
    }
}
