//! What Secrets hold is read back, or refused with a reason.

use super::super::validity;
use super::super::*;
use super::*;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

fn refused(data: &SecretData) -> Unusable {
    match AgentCa::read(&orders(), data).err() {
        Some(CertificateError::Authority { secret, why }) if secret == "shop/orders-agent-ca" => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_authority_is_read_back_and_issues_what_the_first_one_would() {
    let first = ca();
    let read = AgentCa::read(&orders(), &first.data()).unwrap();
    assert_eq!(read.data(), first.data());
    assert_eq!(read.hash_key(), first.hash_key());
    assert_eq!(format!("{:?}", read.hash_key()), "HashKey(…)");
    let issued = issue_member(&read, &member(), now(), &mut chance(2)).unwrap();
    assert_eq!(check_member(&first, &member(), &issued, now()), Ok(()));
    assert_eq!(issued.keys().collect::<Vec<_>>(), [CA_CRT, TLS_CRT, TLS_KEY], "no key of the authority");
}

#[test]
fn the_same_chance_makes_the_same_certificates_and_another_makes_others() {
    assert_eq!(ca().data(), ca().data());
    let other = AgentCa::new(&orders(), now(), &mut chance(2)).unwrap();
    for key in [TLS_CRT, TLS_KEY, HASH_KEY] {
        assert_ne!(ca().data()[key], other.data()[key]);
    }
}

#[test]
fn a_secret_that_holds_something_else_is_refused_with_a_reason() {
    let data = ca().data();
    for key in [TLS_CRT, TLS_KEY, HASH_KEY] {
        assert_eq!(refused(&without(&data, key)), Unusable::Missing(key));
        assert_eq!(refused(&with(&data, key, b"garbage")), Unusable::Unreadable(key));
        assert_eq!(refused(&with(&data, key, &[0xff, 0xfe])), Unusable::Unreadable(key));
    }
    let other = AgentCa::new(&orders(), now(), &mut chance(2)).unwrap().data();
    assert_eq!(refused(&with(&data, TLS_KEY, &other[TLS_KEY].0)), Unusable::OtherKey(TLS_KEY));
    let foreign = AgentCa::new(&ClusterName::new("shop", "bank"), now(), &mut chance(1)).unwrap().data();
    assert_eq!(refused(&foreign), Unusable::OtherName("agent-ca.orders.shop.muster.dev".into()));
    let replaced = with(&data, PREVIOUS_CRT, b"garbage");
    assert_eq!(refused(&with(&replaced, PREVIOUS_KEY, b"garbage")), Unusable::Unreadable(PREVIOUS_CRT));
    assert_eq!(refused(&with(&data, PREVIOUS_CRT, &data[TLS_CRT].0)), Unusable::Missing(PREVIOUS_KEY));
}

#[test]
fn a_key_of_another_kind_is_refused() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new([orders().authority()]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key).unwrap().pem();
    let data = with(&ca().data(), TLS_CRT, certificate.as_bytes());
    assert_eq!(refused(&with(&data, TLS_KEY, key.serialize_pem().as_bytes())), Unusable::Unreadable(TLS_KEY));
}

#[test]
fn errors_name_the_secret_and_what_to_do() {
    let error = AgentCa::read(&orders(), &without(&ca().data(), TLS_KEY)).err().unwrap().to_string();
    assert!(error.contains("shop/orders-agent-ca") && error.contains("tls.key is missing"), "{error}");
    assert!(error.contains("or delete it"), "{error}");
    let error = external_config("shop/far", &SecretData::new(), &clock_at(now())).err().unwrap().to_string();
    assert!(error.contains("shop/far") && error.contains("ca.crt is missing"), "{error}");
}

#[test]
fn a_members_certificate_is_made_anew_when_it_is_not_what_it_should_be() {
    let ca = ca();
    let issued = issue_member(&ca, &member(), now(), &mut chance(2)).unwrap();
    let check = |data: &SecretData, at| check_member(&ca, &member(), data, at);
    for key in [CA_CRT, TLS_CRT, TLS_KEY] {
        assert_eq!(check(&without(&issued, key), now()), Err(Unusable::Missing(key)));
    }
    assert_eq!(check(&with(&issued, CA_CRT, b"garbage"), now()), Err(Unusable::OtherTrust));
    assert_eq!(check(&with(&issued, TLS_CRT, b"garbage"), now()), Err(Unusable::Unreadable(TLS_CRT)));

    let other = issue_member(&ca, &orders().member("orders-a-1"), now(), &mut chance(3)).unwrap();
    assert_eq!(check(&with(&issued, TLS_KEY, &other[TLS_KEY].0), now()), Err(Unusable::OtherKey(TLS_KEY)));
    assert_eq!(check(&other, now()), Err(Unusable::OtherName(member().dns())));

    let stranger = AgentCa::new(&orders(), now(), &mut chance(4)).unwrap();
    let foreign = issue_member(&stranger, &member(), now(), &mut chance(5)).unwrap();
    assert_eq!(check(&foreign, now()), Err(Unusable::OtherTrust));
    let disguised = with(&foreign, CA_CRT, ca.bundle().as_bytes());
    assert_eq!(check(&disguised, now()), Err(Unusable::OtherAuthority));
}

#[test]
fn a_members_certificate_is_made_anew_before_its_end_and_after_a_wrong_clock() {
    let ca = ca();
    let issued = issue_member(&ca, &member(), now(), &mut chance(2)).unwrap();
    let check = |at: Timestamp| check_member(&ca, &member(), &issued, at);
    assert_eq!(check(now() + days(59)), Ok(()));
    let ends = now() + MEMBER_LASTS;
    assert_eq!(check(now() + days(60)), Err(Unusable::Ends(ends)));
    assert_eq!(check(now() + days(400)), Err(Unusable::Ends(ends)));
    assert_eq!(check(now() - BEGINS_BEFORE), Ok(()), "a clock that is a little behind");
    assert_eq!(check(now() - days(2)), Err(Unusable::NotYet));
}

#[test]
fn the_operators_certificate_is_made_anew_before_its_end_and_with_a_new_authority() {
    let ca = ca();
    let tls = OperatorTls::new(&ca, &clock_at(now()), &mut chance(2)).unwrap();
    assert!(!tls.is_due(&ca, now() + days(4)));
    assert!(tls.is_due(&ca, now() + days(5)));
    assert!(tls.is_due(&AgentCa::new(&orders(), now(), &mut chance(9)).unwrap(), now()));
}

#[test]
fn what_is_cut_off_has_no_dates() {
    let whole = CertificateDer::from_pem_slice(&ca().data()[TLS_CRT].0).unwrap();
    let read = validity::read(&whole).unwrap();
    assert_eq!((read.begins, read.ends), (now() - BEGINS_BEFORE, now() + AUTHORITY_LASTS));
    for length in 0..whole.len() - 1 {
        assert_eq!(validity::read(&whole[..length]), None);
    }
    assert_eq!(validity::read(b"hello"), None);
    assert_eq!(validity::read(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x30]), None);
}

#[test]
fn dates_beyond_2049_and_clocks_before_1970_are_survived() {
    let late: Timestamp = "2049-06-01T00:00:00Z".parse().unwrap();
    let ca = AgentCa::new(&orders(), late, &mut chance(1)).unwrap();
    let der = CertificateDer::from_pem_slice(&ca.data()[TLS_CRT].0).unwrap();
    assert_eq!(validity::read(&der).unwrap().ends, late + AUTHORITY_LASTS);
    let early: Timestamp = "1970-01-01T00:00:10Z".parse().unwrap();
    AgentCa::new(&orders(), early, &mut chance(1)).unwrap();
    AgentCa::new(&orders(), early - days(20_000), &mut chance(1)).err().unwrap();
}
