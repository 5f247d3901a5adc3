//! One authority replaces another while operator and agents go on speaking, whoever has loaded what.

use super::super::*;
use super::handshake::meet;
use super::*;

/// An authority that was made so long ago that it is to be replaced, and is.
fn replaced() -> (AgentCa, AgentCa, Timestamp) {
    let old = ca();
    let mut new = AgentCa::read(&orders(), &old.data()).unwrap();
    let at = now() + AUTHORITY_LASTS - AUTHORITY_SPARE;
    assert!(!new.rotate(at - days(1), &mut chance(5)).unwrap(), "not yet");
    assert!(new.rotate(at, &mut chance(5)).unwrap());
    (old, new, at)
}

#[test]
fn a_new_authority_keeps_the_old_one_for_a_while_and_the_key_of_hashes_for_ever() {
    let (old, mut new, at) = replaced();
    assert_eq!(new.hash_key(), old.hash_key(), "else every member would restart");
    assert_eq!(new.bundle().matches("BEGIN CERTIFICATE").count(), 2);
    let read = AgentCa::read(&orders(), &new.data()).unwrap();
    assert_eq!(read.data(), new.data());
    assert!(!new.rotate(at + days(59), &mut chance(6)).unwrap());
    assert!(new.rotate(at + days(60), &mut chance(6)).unwrap());
    assert_eq!(new.bundle().matches("BEGIN CERTIFICATE").count(), 1);
    assert!(!new.rotate(at + days(61), &mut chance(6)).unwrap());
    assert_eq!(AgentCa::read(&orders(), &new.data()).unwrap().data(), new.data());
}

#[test]
fn a_certificate_without_an_end_of_line_does_not_run_into_the_next() {
    let (_, new, at) = replaced();
    let bare = String::from_utf8(new.data()[TLS_CRT].0.clone()).unwrap();
    let read = AgentCa::read(&orders(), &with(&new.data(), TLS_CRT, bare.trim_end().as_bytes())).unwrap();
    let issued = issue_member(&read, &member(), at, &mut chance(7)).unwrap();
    agent_config(&issued, &member(), &clock_at(at)).unwrap();
    assert_eq!(read.bundle(), new.bundle());
}

#[tokio::test]
async fn through_all_of_it_operator_and_agents_understand_each_other() {
    let (old, mut new, at) = replaced();
    // What a member's Secret may hold: what it held before, what it holds in between, and what it holds at the end.
    let before = issue_member(&old, &member(), at - days(1), &mut chance(7)).unwrap();
    let between = issue_member(&new, &member(), at, &mut chance(7)).unwrap();
    assert_eq!(check_member(&new, &member(), &before, at), Err(Unusable::OtherTrust), "it is to be written");

    let clock = clock_at(at);
    let operator = OperatorTls::new(&new, &clock, &mut chance(8)).unwrap();
    for data in [&before, &between] {
        meet(&operator, data, &member(), &clock).await.unwrap();
    }
    let clock = clock_at(at + days(31));
    let operator = OperatorTls::new(&new, &clock, &mut chance(8)).unwrap();
    meet(&operator, &between, &member(), &clock).await.unwrap();
    meet(&operator, &before, &member(), &clock).await.unwrap_err();

    let end = at + days(61);
    assert!(new.rotate(end, &mut chance(9)).unwrap());
    let after = issue_member(&new, &member(), end, &mut chance(7)).unwrap();
    let clock = clock_at(end);
    let operator = OperatorTls::new(&new, &clock, &mut chance(8)).unwrap();
    for data in [&between, &after] {
        meet(&operator, data, &member(), &clock).await.unwrap();
    }
}

#[test]
fn an_authority_that_ended_long_ago_is_replaced_and_not_used() {
    let mut late = ca();
    let at = now() + AUTHORITY_LASTS + days(100);
    assert!(late.rotate(at, &mut chance(5)).unwrap());
    let tls = OperatorTls::new(&late, &clock_at(at), &mut chance(6)).unwrap();
    assert!(!tls.is_due(&late, at));
}
