//! A member's certificate, as its Secret holds it.

use jiff::Timestamp;
use k8s_openapi::ByteString;
use rand::CryptoRng;
use rustls::RootCertStore;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::ParsedCertificate;

use super::ca::AgentCa;
use super::error::{CertificateError, Unusable};
use super::issuer::{Use, bytes, check_name, later, read_pair};
use super::names::MemberName;
use super::validity;
use super::{CA_CRT, MEMBER_LASTS, MEMBER_SPARE, SecretData, TLS_CRT, TLS_KEY};

/// A new certificate for a member: what its Secret is to hold.
pub fn issue_member(
    ca: &AgentCa,
    member: &MemberName,
    now: Timestamp,
    chance: &mut impl CryptoRng,
) -> Result<SecretData, CertificateError> {
    let issued = ca.for_members().issue(&member.dns(), Use::Serving, MEMBER_LASTS, now, chance)?;
    let entry = |key: &str, value: String| (key.to_owned(), ByteString(value.into_bytes()));
    Ok(SecretData::from([
        entry(CA_CRT, ca.bundle()),
        entry(TLS_CRT, issued.pem),
        entry(TLS_KEY, issued.key.serialize_pem()),
    ]))
}

/// Whether a member can go on with what its Secret holds; otherwise why it needs a new certificate.
pub fn check_member(
    ca: &AgentCa,
    member: &MemberName,
    data: &SecretData,
    now: Timestamp,
) -> Result<(), Unusable> {
    if bytes(data, CA_CRT)? != ca.bundle().as_bytes() {
        return Err(Unusable::OtherTrust);
    }
    let (certificate, _) = read_pair(data, TLS_CRT, TLS_KEY)?;
    let validity = validity::read(&certificate).ok_or(Unusable::Unreadable(TLS_CRT))?;
    if validity.begins > now {
        return Err(Unusable::NotYet);
    }
    if validity.ends <= later(now, MEMBER_SPARE) {
        return Err(Unusable::Ends(validity.ends));
    }
    check_name(&certificate, &member.dns())?;
    check_issuer(&ca.for_members().certificate, &certificate, now).map_err(|()| Unusable::OtherAuthority)
}

/// Whether this authority issued this certificate for serving.
fn check_issuer(
    authority: &CertificateDer<'_>,
    issued: &CertificateDer<'_>,
    now: Timestamp,
) -> Result<(), ()> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone().into_owned()).map_err(drop)?;
    let parsed = ParsedCertificate::try_from(issued).map_err(drop)?;
    let algorithms = default_provider().signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], unix(now), algorithms).map_err(drop)
}

/// The time as TLS has it.
pub(super) fn unix(now: Timestamp) -> UnixTime {
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds))
}
