//! Secrets: generated once, and a hash that stands for what they hold.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;

use super::super::secrets::{account, hash, missing, used_by_members};
use super::*;

/// Chance that can be repeated.
fn random() -> impl FnMut(&mut [u8]) {
    let mut state = 1u8;
    move |bytes| {
        for byte in bytes {
            state = state.wrapping_mul(5).wrapping_add(3);
            *byte = state;
        }
    }
}

#[test]
fn an_account_has_its_keys_in_letters_and_digits() {
    let engine = engine();
    let wanted = &engine.spec.secrets[0];
    let secret = account(&cluster(), wanted, &mut random());
    assert_eq!(secret.metadata.name.as_deref(), Some("orders-accounts"));
    assert_eq!(secret.metadata.owner_references, None, "it belongs to the data");
    let data = secret.data.as_ref().unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["replication", "root"]);
    for value in data.values() {
        assert_eq!(value.0.len(), 32);
        assert!(value.0.iter().all(u8::is_ascii_alphanumeric));
    }
    for edge in [0, 255] {
        let word = account(&cluster(), wanted, &mut |bytes| bytes.fill(edge)).data.unwrap();
        assert!(word["root"].0.iter().all(u8::is_ascii_alphanumeric));
    }
}

#[test]
fn what_is_there_is_never_overwritten() {
    let engine = engine();
    let wanted = &engine.spec.secrets[0];
    let mut live = account(&cluster(), wanted, &mut random());
    assert!(missing(&live, wanted, &mut random()).is_empty());
    live.data.as_mut().unwrap().remove("root");
    assert_eq!(missing(&live, wanted, &mut random()).into_keys().collect::<Vec<_>>(), ["root"]);
}

#[test]
fn every_secret_that_a_member_sees_is_counted() {
    let (mut cluster, mut engine) = (cluster(), engine().spec);
    cluster.spec.certificate_authority = Some(read(json!({"secretName": "ca"})));
    cluster.spec.replication = Some(read(json!({
        "credentials": {"secretName": "mine"},
        "targets": [{"name": "far", "addresses": ["far"], "credentials": {"secretName": "theirs"}}],
    })));
    engine.template.volumes.push(read(json!({"name": "x", "secret": {"name": "licence"}})));
    let expected = ["ca", "licence", "mine", "orders-accounts", "theirs"].map(str::to_owned);
    assert_eq!(used_by_members(&cluster, &engine), BTreeSet::from(expected));
}

#[test]
fn a_hash_stands_for_names_keys_and_values_and_needs_its_key() {
    let secret = |pairs: &[(&str, &str)]| -> BTreeMap<String, ByteString> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), ByteString(value.as_bytes().to_vec()))).collect()
    };
    let of = |name: &str, pairs: &[(&str, &str)]| BTreeMap::from([(name.to_owned(), secret(pairs))]);
    let hashes = [
        hash(b"key", &of("a", &[("b", "c")])),
        hash(b"other", &of("a", &[("b", "c")])),
        hash(b"key", &of("ab", &[("", "c")])),
        hash(b"key", &of("a", &[("bc", "")])),
        hash(b"key", &of("a", &[("b", "c"), ("d", "")])),
    ];
    assert_eq!(hashes.iter().collect::<BTreeSet<_>>().len(), hashes.len());
    assert!(hashes.iter().flatten().all(|hash| hash.len() == 64));
    assert_eq!(hash(b"key", &BTreeMap::new()), None);
}
