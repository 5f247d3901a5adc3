//! Names agree with themselves and with what `kubectl explain` says about them.
#![cfg(test)] // so that the lints for tests hold in helper functions too

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use muster_api::engine::Actions;
use muster_api::names::{
    self, Action, BlockedBy, CLUSTER_CONDITIONS, ConditionType, MEMBER_CONDITIONS, MemberState, Phase,
    Reason, RecoveryState, RequestAction, RequestResult, Role,
};
use muster_api::{crds, limits};
use serde_json::Value;

fn round_trip<T: Copy + Display + FromStr + PartialEq + std::fmt::Debug>(all: &[T]) {
    let mut texts = BTreeSet::new();
    for value in all {
        let text = value.to_string();
        assert_eq!(T::from_str(&text).ok(), Some(*value));
        assert!(text.len() <= limits::WORD_MAX as usize);
        assert!(texts.insert(text.clone()), "{text} is there twice");
    }
    assert!(T::from_str("nothing of the kind").is_err());
}

#[test]
fn every_name_reads_as_it_is_written() {
    round_trip(Action::ALL);
    round_trip(BlockedBy::ALL);
    round_trip(ConditionType::ALL);
    round_trip(MemberState::ALL);
    round_trip(Phase::ALL);
    round_trip(Reason::ALL);
    round_trip(RecoveryState::ALL);
    round_trip(RequestAction::ALL);
    round_trip(RequestResult::ALL);
    round_trip(Role::ALL);
}

#[test]
fn an_unknown_name_says_what_was_expected() {
    let error = Phase::from_str("Sleeping").unwrap_err();
    assert_eq!(error.to_string(), "\"Sleeping\" is not a phase");
}

#[test]
fn every_reason_is_one_that_a_condition_may_have() {
    for reason in Reason::ALL {
        assert!(reason.as_str().chars().all(|c| c.is_ascii_alphabetic()), "{reason}");
        assert!(reason.as_str().starts_with(|c: char| c.is_ascii_uppercase()), "{reason}");
    }
}

#[test]
fn every_condition_belongs_to_a_kind() {
    let of_kinds: BTreeSet<_> = CLUSTER_CONDITIONS.iter().chain(MEMBER_CONDITIONS).collect();
    assert_eq!(of_kinds, ConditionType::ALL.iter().collect());
}

#[test]
fn every_name_of_ours_has_our_prefix() {
    let ours = [
        names::LABEL_CLUSTER,
        names::LABEL_POOL,
        names::LABEL_MEMBER,
        names::LABEL_ROLE,
        names::LABEL_DRIVER,
        names::ANNOTATION_CLUSTERING_STOPPED,
        names::ANNOTATION_RECONCILIATION_STOPPED,
        names::ANNOTATION_REQUEST,
        names::ANNOTATION_EPOCH,
        names::ANNOTATION_FORMED,
        names::ANNOTATION_LAST_BACKUP_TIME,
        names::FINALIZER_CLUSTER,
        names::FINALIZER_MEMBER,
    ];
    assert!(ours.iter().all(|name| name.starts_with(names::PREFIX)));
    assert_eq!(names::API_VERSION, format!("{}/{}", names::GROUP, names::VERSION));
    for crd in crds() {
        assert_eq!(crd.spec.group, names::GROUP);
        assert_eq!(crd.spec.names.categories, Some(vec![names::CATEGORY.to_owned()]));
    }
}

fn schema_of(kind: &str) -> Value {
    let crd = crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    serde_json::to_value(&crd.spec.versions[0].schema).unwrap()["openAPIV3Schema"]["properties"].clone()
}

fn description(kind: &str, pointer: &str) -> String {
    let schema = schema_of(kind);
    let found = schema.pointer(&pointer.replace('.', "/properties/")).unwrap_or_else(|| panic!("{pointer}"));
    found["description"].as_str().unwrap().to_owned()
}

/// Status values are open in the schema, so the description is where a user finds them: it names each.
fn names_each<T: Display>(kind: &str, pointer: &str, all: &[T]) {
    let description = description(kind, pointer);
    let words: BTreeSet<_> = description.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    for name in all {
        assert!(words.contains(name.to_string().as_str()), "{pointer} does not name {name}: {description}");
    }
}

#[test]
fn explain_names_every_value_of_status() {
    names_each("ReplicatedCluster", "/status.phase", Phase::ALL);
    names_each("ReplicatedCluster", "/status.conditions", CLUSTER_CONDITIONS);
    names_each("ReplicatedCluster", "/status.recovery.state", RecoveryState::ALL);
    names_each("ReplicatedCluster", "/status.recovery.blockedBy", BlockedBy::ALL);
    names_each("ReplicatedCluster", "/status.lastRequest.action", RequestAction::ALL);
    names_each("ReplicatedCluster", "/status.lastRequest.result", RequestResult::ALL);
    names_each("Member", "/status.conditions", MEMBER_CONDITIONS);
    names_each("Member", "/status.currentState", MemberState::ALL);
    names_each("Member", "/status.role", Role::ALL);
}

#[test]
fn every_action_is_a_field_of_an_engine_and_no_other() {
    let fields =
        schema_of("ReplicationEngine").pointer("/spec/properties/actions/properties").unwrap().clone();
    let fields: BTreeSet<_> = fields.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, Action::ALL.iter().map(ToString::to_string).collect());
}

#[test]
fn explain_states_every_default_timeout() {
    let text = description("ReplicationEngine", "/spec.actions.seed.timeoutSeconds");
    for action in Action::ALL {
        let seconds = Actions::default_timeout_seconds(*action);
        let stated = text.split(", ").any(|part| part.contains(&format!("{seconds} for")));
        assert!(stated && text.contains(action.as_str()), "{action} {seconds}: {text}");
    }
}

#[test]
fn a_timeout_is_the_engines_or_the_default() {
    let mut actions = Actions::default();
    assert_eq!(actions.timeout_seconds(Action::Leave), 86_400);
    assert!(actions.get(Action::Leave).is_none());
    actions.leave =
        Some(muster_api::engine::ActionSpec { command: vec!["l".into()], timeout_seconds: Some(7) });
    assert_eq!(actions.timeout_seconds(Action::Leave), 7);
    assert!(actions.get(Action::Seed).is_some() && Action::Seed.starts() && !Action::Stop.starts());
}
