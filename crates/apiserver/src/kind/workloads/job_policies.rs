//! What a Job makes of Pods that fail, when it counts as done, and whose it is.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::{at, given, list, number, text};
use super::names;
use crate::schema::{FieldError, Path, go_json};

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
/// At most this many rules, and conditions in one.
const MAX_RULES: i64 = 20;
/// At most this many exit codes in a rule: there are no more.
const MAX_CODES: i64 = 255;
/// Longest name of who manages a Job, in bytes.
const MAX_MANAGER: i64 = 63;

/// Checks who manages a Job, if it is not the server's own controller.
pub(super) fn check_manager(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(manager) = given(spec, "managedBy").and_then(Value::as_str) else { return };
    let path = path.child("managedBy");
    match manager.split_once('/') {
        _ if manager.is_empty() => errors.push(FieldError::required(&path, "")),
        Some((domain, rest)) if !domain.is_empty() && !rest.is_empty() => {
            names::check(names::dns_subdomain, domain, &path, errors);
        }
        _ => {
            let wrong = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            errors.push(FieldError::invalid(&path, manager, wrong));
        }
    }
    if names::is_more(manager.len(), MAX_MANAGER) {
        errors.push(FieldError::too_long(&path, MAX_MANAGER));
    }
}

/// Checks what is done about Pods that fail.
pub(super) fn check_failures(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(policy) = given(spec, "podFailurePolicy") else { return };
    let path = path.child("podFailurePolicy").child("rules");
    let rules = list(policy, "rules");
    if names::is_more(rules.len(), MAX_RULES) {
        errors.push(FieldError::too_many(&path, rules.len(), MAX_RULES));
    }
    for (index, rule) in rules.iter().enumerate() {
        check_rule(spec, rule, &path.index(index), errors);
    }
}

fn check_rule(spec: &Value, rule: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    match text(rule, "action") {
        "FailIndex" if given(spec, "backoffLimitPerIndex").is_none() => {
            let wrong = "requires the backoffLimitPerIndex to be set";
            errors.push(FieldError::invalid(&path.child("action"), "FailIndex", wrong));
        }
        action => check_word(action, &ACTIONS, &path.child("action"), errors),
    }
    let (codes, conditions) = (given(rule, "onExitCodes"), list(rule, "onPodConditions"));
    if let Some(codes) = codes {
        check_codes(spec, codes, &path.child("onExitCodes"), errors);
    }
    check_conditions(conditions, &path.child("onPodConditions"), errors);
    let wrong = match (codes.is_some(), !conditions.is_empty()) {
        (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    errors.push(FieldError::invalid_without_value(path, wrong));
}

fn check_codes(spec: &Value, codes: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let operator = text(codes, "operator");
    check_word(operator, &OPERATORS, &path.child("operator"), errors);
    if let Some(name) = given(codes, "containerName").and_then(Value::as_str) {
        let of = |which: &str| list(at(spec, "/template/spec"), which).iter();
        if !of("containers").chain(of("initContainers")).any(|container| text(container, "name") == name) {
            let wrong = "must be one of the container or initContainer names in the pod template";
            errors.push(FieldError::invalid(&path.child("containerName"), name, wrong));
        }
    }
    let (values, path) = (list(codes, "values"), path.child("values"));
    let shown = || at(codes, "/values").clone();
    if values.is_empty() {
        errors.push(FieldError::invalid(&path, shown(), "at least one value is required"));
    } else if names::is_more(values.len(), MAX_CODES) {
        errors.push(FieldError::too_many(&path, values.len(), MAX_CODES));
    }
    let mut seen = HashSet::new();
    for (index, value) in values.iter().enumerate() {
        if operator == "In" && value.as_i64() == Some(0) {
            let wrong = "must not be 0 for the In operator";
            errors.push(FieldError::invalid(&path.index(index), 0, wrong));
        }
        if !seen.insert(value) {
            errors.push(FieldError::duplicate(&path.index(index), Some(value.clone())));
        }
    }
    if !values.is_sorted_by_key(Value::as_i64) {
        errors.push(FieldError::invalid(&path, shown(), "must be ordered"));
    }
}

fn check_conditions(conditions: &[Value], path: &Path, errors: &mut Vec<FieldError>) {
    if names::is_more(conditions.len(), MAX_RULES) {
        errors.push(FieldError::too_many(path, conditions.len(), MAX_RULES));
    }
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        names::check(names::label_key, text(condition, "type"), &path.child("type"), errors);
        check_word(text(condition, "status"), &STATUSES, &path.child("status"), errors);
    }
}

/// One of a few words; which these are is said where there is none.
fn check_word(word: &str, allowed: &[&str], path: &Path, errors: &mut Vec<FieldError>) {
    if word.is_empty() {
        let quoted: Vec<String> = allowed.iter().map(|word| format!("{word:?}")).collect();
        errors.push(FieldError::required(path, format!("valid values: [{}]", quoted.join(" "))));
    } else if !allowed.contains(&word) {
        errors.push(names::not_one_of(path, word, allowed));
    }
}

/// Checks when a Job is done before all of its indexes are.
pub(super) fn check_success(spec: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    let Some(policy) = given(spec, "successPolicy") else { return };
    let (rules, path) = (list(policy, "rules"), path.child("successPolicy"));
    if text(spec, "completionMode") != "Indexed" {
        let wrong = "requires indexed completion mode";
        errors.push(FieldError::invalid_shown(&path, policy.clone(), shown_rules(policy), wrong));
        return;
    }
    let path = path.child("rules");
    if rules.is_empty() {
        let wrong = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(&path, wrong));
    }
    if names::is_more(rules.len(), MAX_RULES) {
        errors.push(FieldError::too_many(&path, rules.len(), MAX_RULES));
    }
    // Without a number of completions something else is wrong already.
    let Some(completions) = number(spec, "completions") else { return };
    for (index, rule) in rules.iter().enumerate() {
        check_success_rule(rule, completions, &path.index(index), errors);
    }
}

fn check_success_rule(rule: &Value, completions: i64, path: &Path, errors: &mut Vec<FieldError>) {
    let (indexes, count) =
        (given(rule, "succeededIndexes").and_then(Value::as_str), number(rule, "succeededCount"));
    if indexes.is_none() && count.is_none() {
        let wrong = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(path, wrong));
    }
    let named = indexes.map(|indexes| {
        count_indexes(indexes, completions).unwrap_or_else(|why| {
            let wrong = format!("error parsing succeededIndexes: {why}");
            errors.push(FieldError::invalid(&path.child("succeededIndexes"), indexes, wrong));
            0
        })
    });
    let (Some(count), path) = (count, path.child("succeededCount")) else { return };
    names::check_not_negative(Some(count), &path, errors);
    let bounds = [
        (Some(completions), "the number of specified completions"),
        (named, "the number of indexes in the specified succeededIndexes field"),
    ];
    for (bound, what) in bounds {
        if let Some(bound) = bound.filter(|bound| count > *bound) {
            let wrong = format!("must be less than or equal to {bound} ({what})");
            errors.push(FieldError::invalid(&path, count, wrong));
        }
    }
}

/// How many indexes a text such as `0-2,5` names; or what is wrong with it.
fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    let (mut count, mut last) = (0, None);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let ends: Vec<&str> = interval.split('-').collect();
        if ends.len() > 2 {
            return Err(format!(
                "the fragment {interval:?} violates the requirement that an index interval can have at most two parts \
                 separated by '-'"
            ));
        }
        let mut first = None;
        for end in ends {
            let number: i64 =
                end.parse().map_err(|_| format!("cannot convert string to integer for index: {end:?}"))?;
            if number >= completions {
                return Err(format!("too large index: {end:?}"));
            }
            if let Some(previous) = last.filter(|previous| *previous >= number) {
                return Err(format!("non-increasing order, previous: {previous}, current: {number}"));
            }
            first.get_or_insert(number);
            last = Some(number);
        }
        count += last.unwrap_or_default() - first.unwrap_or_default() + 1;
    }
    Ok(count)
}

/// A policy as messages show it.
fn shown_rules(policy: &Value) -> String {
    let rule = |rule: &Value| {
        let part = |field: &str| go_json(given(rule, field).unwrap_or(&Value::Null));
        format!(
            "{{\"SucceededIndexes\":{},\"SucceededCount\":{}}}",
            part("succeededIndexes"),
            part("succeededCount")
        )
    };
    let rules: Vec<String> = list(policy, "rules").iter().map(rule).collect();
    format!("{{\"Rules\":[{}]}}", rules.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted_in_growing_order() {
        assert_eq!(count_indexes("", 5), Ok(0));
        assert_eq!(count_indexes("0-2,4", 5), Ok(4));
        for (text, why) in
            [("3-1", "non-increasing"), ("1,1", "non-increasing"), ("5", "too large"), ("1-", "cannot")]
        {
            assert!(count_indexes(text, 5).unwrap_err().starts_with(why), "{text}");
        }
    }
}
