//! `anyOf`, `oneOf`, `allOf` and `not`. Inside them nothing is forgiven because it did not change.

use serde_json::Value;

use super::super::go::quote;
use super::super::node::Node;
use super::check_strictly;
use super::outcome::{Outcome, Problem};

pub(super) fn check(value: &Value, node: &Node, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    if !node.any_of.is_empty() {
        check_any(value, node, path, &mut outcome);
    }
    if !node.one_of.is_empty() {
        check_one(value, node, path, &mut outcome);
    }
    if !node.all_of.is_empty() {
        check_all(value, node, path, &mut outcome);
    }
    if node.not.as_ref().is_some_and(|not| check_strictly(value, not, path, None).is_valid()) {
        outcome.add(Problem::of_the_whole(format!("{} must not validate the schema (not)", quote(path))));
    }
    outcome.pass();
    outcome
}

/// The branch that comes nearest: the one with the most checks, the first of several.
fn nearer(best: Option<Outcome>, other: Outcome) -> Outcome {
    match best {
        Some(best) if best.passed >= other.passed => best,
        _ => other,
    }
}

fn check_any(value: &Value, node: &Node, path: &str, outcome: &mut Outcome) {
    let mut nearest = None;
    for branch in &node.any_of {
        let result = check_strictly(value, branch, path, None);
        if result.is_valid() {
            return outcome.merge(result);
        }
        nearest = Some(nearer(nearest, result));
    }
    outcome.add(Problem::of_the_whole(format!("{} must validate at least one schema (anyOf)", quote(path))));
    if let Some(nearest) = nearest {
        outcome.merge(nearest);
    }
}

fn check_one(value: &Value, node: &Node, path: &str, outcome: &mut Outcome) {
    let (mut nearest, mut first, mut valid) = (None, None, 0_usize);
    for branch in &node.one_of {
        let result = check_strictly(value, branch, path, None);
        if result.is_valid() {
            valid += 1;
            first.get_or_insert(result);
        } else {
            nearest = Some(nearer(nearest, result));
        }
    }
    let found = match (valid, first) {
        (1, Some(first)) => return outcome.merge(first),
        (0, _) => "Found none valid".to_owned(),
        _ => format!("Found {valid} valid alternatives"),
    };
    let message = format!("{} must validate one and only one schema (oneOf). {found}", quote(path));
    outcome.add(Problem::of_the_whole(message));
    if let Some(nearest) = nearest.filter(|_| valid == 0) {
        outcome.merge(nearest);
    }
}

fn check_all(value: &Value, node: &Node, path: &str, outcome: &mut Outcome) {
    let mut valid = 0;
    for branch in &node.all_of {
        let result = check_strictly(value, branch, path, None);
        valid += usize::from(result.is_valid());
        outcome.merge(result);
    }
    if valid < node.all_of.len() {
        let addition = if valid == 0 { ". None validated" } else { "" };
        let message = format!("{} must validate all the schemas (allOf){addition}", quote(path));
        outcome.add(Problem::of_the_whole(message));
    }
}
