//! One authority, and what it issues.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use muster_protocol::tls;
use rand::CryptoRng;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PKCS_ED25519, SerialNumber,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::error::{CertificateError, Unusable};
use super::names::ClusterName;
use super::validity::{self, Validity};
use super::{AUTHORITY_LASTS, BEGINS_BEFORE, SecretData};

/// What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410): version 0, the algorithm, and the lengths.
const ED25519_PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// How long a serial number is: random, so that no two are the same.
const SERIAL_BYTES: usize = 16;

/// An authority with its key.
pub(super) struct Authority {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) pem: String,
    pub(super) validity: Validity,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key.
pub(super) struct Issued {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) pem: String,
    pub(super) key: KeyPair,
}

impl Issued {
    /// The key as TLS takes it.
    pub(super) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }
}

/// What a certificate is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Serving,
    Commanding,
}

impl Authority {
    /// A new one.
    pub(super) fn new(
        cluster: &ClusterName,
        now: Timestamp,
        chance: &mut impl CryptoRng,
    ) -> Result<Self, CertificateError> {
        let key = new_key(chance)?;
        let mut parameters = parameters(cluster)?;
        date(&mut parameters, now, AUTHORITY_LASTS)?;
        parameters.serial_number = Some(serial(chance));
        let certificate = parameters.self_signed(&key).map_err(CertificateError::making)?;
        let (pem, certificate) = (certificate.pem(), certificate.der().clone());
        let validity =
            validity::read(&certificate).ok_or_else(|| CertificateError::making("it has no dates"))?;
        Ok(Self { certificate, pem, validity, issuer: Issuer::new(parameters, key) })
    }

    /// The one under these keys of a Secret, if it is this cluster's.
    pub(super) fn read(
        cluster: &ClusterName,
        data: &SecretData,
        crt: &'static str,
        key: &'static str,
    ) -> Result<Self, Unusable> {
        let (certificate, private) = read_pair(data, crt, key)?;
        let validity = validity::read(&certificate).ok_or(Unusable::Unreadable(crt))?;
        let name = cluster.authority();
        check_name(&certificate, &name)?;
        let PrivateKeyDer::Pkcs8(private) = private else { return Err(Unusable::Unreadable(key)) };
        let private = KeyPair::from_pkcs8_der_and_sign_algo(&private, &PKCS_ED25519);
        let private = private.map_err(|_| Unusable::Unreadable(key))?;
        // rcgen needs to know what it signs for, and that is the same for every authority of a cluster.
        let parameters = parameters(cluster).map_err(|_| Unusable::Unreadable(crt))?;
        // Several are put one behind the other, whatever a person did to the end of the line.
        let pem = format!("{}\n", text(data, crt)?.trim());
        Ok(Self { certificate, pem, validity, issuer: Issuer::new(parameters, private) })
    }

    /// Its private key, as it is kept.
    pub(super) fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// A certificate for this name.
    pub(super) fn issue(
        &self,
        name: &str,
        usage: Use,
        lasts: Duration,
        now: Timestamp,
        chance: &mut impl CryptoRng,
    ) -> Result<Issued, CertificateError> {
        let key = new_key(chance)?;
        let mut parameters = CertificateParams::new([name.to_owned()]).map_err(CertificateError::making)?;
        parameters.distinguished_name = DistinguishedName::new();
        // For people who look at it: the member, or the operator.
        let label = name.split('.').next().unwrap_or(name);
        parameters.distinguished_name.push(DnType::CommonName, label);
        date(&mut parameters, now, lasts)?;
        parameters.serial_number = Some(serial(chance));
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![match usage {
            Use::Serving => ExtendedKeyUsagePurpose::ServerAuth,
            Use::Commanding => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        parameters.use_authority_key_identifier_extension = true;
        let certificate = parameters.signed_by(&key, &self.issuer).map_err(CertificateError::making)?;
        Ok(Issued { pem: certificate.pem(), certificate: certificate.der().clone(), key })
    }
}

/// A certificate and its private key, which belong together.
pub(super) fn read_pair(
    data: &SecretData,
    crt: &'static str,
    key: &'static str,
) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), Unusable> {
    tls::read_pair((crt, bytes(data, crt)?), (key, bytes(data, key)?))
}

/// Whether the certificate is for this name.
pub(super) fn check_name(certificate: &CertificateDer<'_>, name: &str) -> Result<(), Unusable> {
    tls::check_name(certificate, name)
}

/// What a Secret holds under this key.
pub(super) fn bytes<'a>(data: &'a SecretData, key: &'static str) -> Result<&'a [u8], Unusable> {
    data.get(key).map(|value| value.0.as_slice()).ok_or(Unusable::Missing(key))
}

/// The same as text.
pub(super) fn text(data: &SecretData, key: &'static str) -> Result<String, Unusable> {
    String::from_utf8(bytes(data, key)?.to_vec()).map_err(|_| Unusable::Unreadable(key))
}

/// So much later; the end of time at most.
pub(super) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// The same for every authority of a cluster, but for dates, serial number and key.
fn parameters(cluster: &ClusterName) -> Result<CertificateParams, CertificateError> {
    let mut parameters = CertificateParams::new([cluster.authority()]).map_err(CertificateError::making)?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "muster agent ca");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    Ok(parameters)
}

fn new_key(chance: &mut impl CryptoRng) -> Result<KeyPair, CertificateError> {
    let mut pkcs8 = ED25519_PKCS8.to_vec();
    let mut secret = [0; 32];
    chance.fill_bytes(&mut secret);
    pkcs8.extend(secret);
    let pkcs8 = PrivatePkcs8KeyDer::from(pkcs8);
    KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8, &PKCS_ED25519).map_err(CertificateError::making)
}

fn serial(chance: &mut impl CryptoRng) -> SerialNumber {
    let mut bytes = [0; SERIAL_BYTES];
    chance.fill_bytes(&mut bytes);
    bytes[0] &= 0x7f; // it is a positive number
    SerialNumber::from_slice(&bytes)
}

/// From a little before now on, for this long.
fn date(parameters: &mut CertificateParams, now: Timestamp, lasts: Duration) -> Result<(), CertificateError> {
    let since_1970 = |at: Timestamp| {
        let seconds = u64::try_from(at.as_second())
            .map_err(|_| CertificateError::making("the clock is before 1970"))?;
        Ok::<_, CertificateError>(rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds))
    };
    let begins = now.as_second().saturating_sub_unsigned(BEGINS_BEFORE.as_secs()).max(0);
    parameters.not_before = since_1970(Timestamp::from_second(begins).map_err(CertificateError::making)?)?;
    parameters.not_after = since_1970(later(now, lasts))?;
    Ok(())
}
