//! A case: a manifest that one rule refuses, and its twin that differs in that alone and is accepted.

use std::collections::BTreeSet;

use muster_api::crds;
use muster_api::rules::CelRule;
use serde_json::{Value, json};

use crate::server::{CHANGES, Cause, Server, schema_path};

/// In a set of edits: take the field away.
pub(crate) const REMOVED: &str = "\u{0}removed";

/// One rule, on one field.
pub(crate) struct Case {
    /// The field that the API server names, without indexes.
    pub(crate) field: &'static str,
    /// What the API server says, or a part of it.
    pub(crate) message: &'static str,
    /// Whether anything else may be wrong as well; never for rules, whose twin differs in that alone.
    pub(crate) among_others: bool,
    /// For rules about a change: the edits that make the object that is there before.
    pub(crate) before: Option<Value>,
    /// The edits that make the manifest which is refused.
    pub(crate) refused: Value,
    /// The edits that make its twin.
    pub(crate) accepted: Value,
}

/// A rule about what is written.
pub(crate) fn rule(field: &'static str, rule: CelRule, refused: Value, accepted: Value) -> Case {
    Case { field, message: rule.message, among_others: false, before: None, refused, accepted }
}

/// A rule about a change: all edits but `before` are made to the object that `before` made.
pub(crate) fn change(
    field: &'static str,
    rule: CelRule,
    before: Value,
    refused: Value,
    accepted: Value,
) -> Case {
    Case { field, message: rule.message, among_others: false, before: Some(before), refused, accepted }
}

/// A bound of the schema, without CEL.
pub(crate) fn bound(field: &'static str, message: &'static str, refused: Value, accepted: Value) -> Case {
    Case { field, message, among_others: true, before: None, refused, accepted }
}

/// Makes edits: an object of JSON pointers and new values.
pub(crate) fn edited(base: &Value, edits: &Value) -> Value {
    let mut object = base.clone();
    for (pointer, value) in edits.as_object().into_iter().flatten() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}: no parent"));
        match parent {
            Value::Array(items) => {
                let index: usize = key.parse().unwrap();
                if index == items.len() { items.push(value.clone()) } else { items[index] = value.clone() }
            }
            Value::Object(fields) if value == REMOVED => {
                fields
                    .remove(&key.replace("~1", "/"))
                    .unwrap_or_else(|| panic!("{pointer}: nothing to remove"));
            }
            Value::Object(fields) => {
                fields.insert(key.replace("~1", "/"), value.clone());
            }
            other => panic!("{pointer}: {other}"),
        }
    }
    object
}

/// Runs the cases of one kind, and returns the rules that were seen to refuse, as `field: message`.
pub(crate) async fn run(kind: &str, base: &str, cases: Vec<Case>) -> BTreeSet<String> {
    let server = Server::of(kind).await;
    let changes = Server::in_namespace(kind, CHANGES).await;
    let base: Value = serde_yaml_ng::from_str(base).unwrap();
    let mut refusals = BTreeSet::new();
    for case in cases {
        let (refused, accepted) = match &case.before {
            None => {
                let object = edited(&base, &case.refused);
                let twin = edited(&base, &case.accepted);
                (server.create(&object, true).await, server.create(&twin, true).await)
            }
            Some(before) => {
                let mut object = edited(&base, before);
                object["metadata"]["namespace"] = CHANGES.into();
                let old = changes.create(&object, false).await.unwrap();
                let refused = changes.replace(&edited(&old, &case.refused), true).await;
                let accepted = changes.replace(&edited(&old, &case.accepted), true).await;
                changes.delete(old["metadata"]["name"].as_str().unwrap()).await;
                (refused, accepted)
            }
        };
        check(&case, refused, &accepted);
        refusals.insert(format!("{}: {}", case.field, case.message));
    }
    refusals
}

fn check(case: &Case, refused: Result<Value, Vec<Cause>>, accepted: &Result<Value, Vec<Cause>>) {
    let causes = refused
        .err()
        .unwrap_or_else(|| panic!("accepted, against {}: {}", case.message, brief(&case.refused)));
    let expected =
        |cause: &Cause| schema_path(&cause.field) == case.field && cause.message.contains(case.message);
    assert!(
        causes.iter().any(expected) && (case.among_others || causes.iter().all(expected)),
        "{} was to be refused by {:?} on {:?}, and was by {causes:#?}",
        brief(&case.refused),
        case.message,
        case.field
    );
    assert!(accepted.is_ok(), "{} was to be accepted: {accepted:#?}", brief(&case.accepted));
}

/// The beginning of a text that may be very long.
fn brief(edits: &Value) -> String {
    edits.to_string().chars().take(300).collect()
}

/// Every rule of a kind's CRD, as `field: message`.
pub(crate) fn rules_of(kind: &str) -> BTreeSet<String> {
    let crd = crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    let schema = json!(crd.spec.versions[0].schema)["openAPIV3Schema"].clone();
    let mut found = BTreeSet::new();
    collect("", &schema, &mut found);
    found
}

fn collect(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        found.insert(format!("{path}: {}", rule["message"].as_str().unwrap()));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        collect(&format!("{path}{dot}{name}"), property, found);
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() {
            collect(&format!("{path}[]"), &schema[key], found);
        }
    }
}

/// Whether every rule was seen to refuse something.
pub(crate) fn assert_complete(kind: &str, refusals: &BTreeSet<String>) {
    let untested: Vec<_> = rules_of(kind).difference(refusals).cloned().collect();
    assert!(untested.is_empty(), "rules of {kind} without a case: {untested:#?}");
}
