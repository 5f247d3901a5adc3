//! Whether a certificate may sign others: its basic constraints.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::ParsedCertificate;

/// The extension `basicConstraints`, as an object identifier in DER.
const BASIC_CONSTRAINTS: &[u8] = &[0x06, 0x03, 0x55, 0x1d, 0x13];
/// In DER.
const TRUE: &[u8] = &[0x01, 0x01, 0xff];
/// In DER.
const OCTET_STRING: u8 = 0x04;
/// In DER.
const SEQUENCE: u8 = 0x30;

/// Whether this text holds a certificate, and the first one in it is that of an authority.
pub fn holds_ca(pem: &[u8]) -> bool {
    let Ok(certificate) = CertificateDer::from_pem_slice(pem) else { return false };
    ParsedCertificate::try_from(&certificate).is_ok() && is_authority(&certificate)
}

/// Looks for the extension, and whether it begins with `cA TRUE`.
fn is_authority(certificate: &[u8]) -> bool {
    let mut rest = certificate;
    while let Some(at) = find(rest, BASIC_CONSTRAINTS) {
        rest = rest.get(at + BASIC_CONSTRAINTS.len()..).unwrap_or_default();
        // It may be marked critical before its value.
        let value = rest.strip_prefix(TRUE).unwrap_or(rest);
        if let [OCTET_STRING, _, SEQUENCE, _, content @ ..] = value
            && content.starts_with(TRUE)
        {
            return true;
        }
    }
    false
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    within.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    fn pem(is_ca: IsCa) -> String {
        let mut params = CertificateParams::new(vec!["example.org".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    #[test]
    fn an_authority_is_told_from_what_is_none() {
        assert!(holds_ca(pem(IsCa::Ca(BasicConstraints::Unconstrained)).as_bytes()));
        assert!(holds_ca(pem(IsCa::Ca(BasicConstraints::Constrained(0))).as_bytes()));
        assert!(!holds_ca(pem(IsCa::ExplicitNoCa).as_bytes()));
        assert!(!holds_ca(pem(IsCa::NoCa).as_bytes()));
        assert!(!holds_ca(b"nonsense"));
    }
}
