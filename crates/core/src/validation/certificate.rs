//! Whether a certificate may sign others: `basicConstraints` with `cA` set, read from its DER.
//!
//! Only as much of DER as leads there. What does not parse is no authority.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";
const SEQUENCE: u8 = 0x30;
const BOOLEAN: u8 = 0x01;
const OCTET_STRING: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
/// The field of a certificate that holds its extensions.
const EXTENSIONS: u8 = 0xa3;
/// 2.5.29.19
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];

/// Whether the first certificate of a PEM text may sign others.
pub fn is_authority(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    let body = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(body, _)| body);
    let Some(body) = body else { return false };
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).is_ok_and(|der| constraints(&der).unwrap_or(false))
}

/// What `basicConstraints` says; none where it cannot be found.
fn constraints(der: &[u8]) -> Option<bool> {
    let certificate = Reader(der).expect(SEQUENCE)?;
    let mut fields = Reader(Reader(certificate).expect(SEQUENCE)?);
    let extensions = loop {
        let (tag, content) = fields.next()?;
        if tag == EXTENSIONS {
            break Reader(content).expect(SEQUENCE)?;
        }
    };
    let mut extensions = Reader(extensions);
    while let Some((SEQUENCE, extension)) = extensions.next() {
        let mut parts = Reader(extension);
        if parts.expect(OBJECT_ID)? != BASIC_CONSTRAINTS {
            continue;
        }
        let (mut tag, mut content) = parts.next()?;
        if tag == BOOLEAN {
            (tag, content) = parts.next()?;
        }
        let value = (tag == OCTET_STRING).then_some(content)?;
        let inner = Reader(value).expect(SEQUENCE)?;
        return Some(matches!(Reader(inner).next(), Some((BOOLEAN, [value])) if *value != 0));
    }
    None
}

/// Takes one element after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match usize::from(*first) {
            short @ 0..=0x7f => (short, rest),
            // Four bytes of length are more than any certificate has.
            long @ 0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(long - 0x80)?;
                (bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    fn certificate(is_ca: IsCa) -> String {
        let mut params = CertificateParams::new(vec!["orders.example".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    #[test]
    fn only_an_authority_is_one() {
        assert!(is_authority(certificate(IsCa::Ca(BasicConstraints::Unconstrained)).as_bytes()));
        assert!(is_authority(certificate(IsCa::Ca(BasicConstraints::Constrained(1))).as_bytes()));
        assert!(!is_authority(certificate(IsCa::NoCa).as_bytes()));
        assert!(!is_authority(certificate(IsCa::ExplicitNoCa).as_bytes()));
    }

    #[test]
    fn what_is_cut_or_no_certificate_is_none() {
        let whole = certificate(IsCa::Ca(BasicConstraints::Unconstrained));
        let body = whole.replace(BEGIN, "").replace(END, "");
        let der = STANDARD.decode(body.split_whitespace().collect::<String>()).unwrap();
        assert_eq!(constraints(&der), Some(true));
        for length in 0..der.len() {
            assert_ne!(constraints(&der[..length]), Some(true), "cut at {length}");
        }
        for text in ["", "nonsense", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----"] {
            assert!(!is_authority(text.as_bytes()));
        }
    }
}
