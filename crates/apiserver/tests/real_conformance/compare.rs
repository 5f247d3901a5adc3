//! Two servers' answers to a case, side by side: where they differ, and whether that is known.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::case::{Case, Step};
use crate::promise;
use crate::run::Answer;

/// Lines of an answer that a failure shows.
const SHOWN_LINES: usize = 80;

/// What is wrong with a case, for people; none if all is well. With `known`, the declared differences are demanded.
pub(crate) fn compare(case: &Case, left: &[Answer], right: &[Answer], known: bool) -> Option<String> {
    let mut report = String::new();
    for (number, step) in case.steps.iter().enumerate() {
        let (left, right) = (&left[number], &right[number]);
        let (mut a, mut b) = (whole(left), whole(right));
        promise::keep_promised(&mut a);
        promise::keep_promised(&mut b);
        restrict(step, &mut a, &mut b);
        for declared in case.differs.iter().filter(|declared| declared.step == number + 1) {
            let (before, after) = (take(&mut a, &declared.at), take(&mut b, &declared.at));
            if known && before == after {
                let _ = writeln!(report, "step {}: {} does not differ any more", number + 1, declared.at);
            }
            if known && declared.ours.is_some_and(|code| code != right.code) {
                let _ = writeln!(
                    report,
                    "step {}: ours is known to differ, but not by {}",
                    number + 1,
                    right.code
                );
            }
        }
        let mut found = Vec::new();
        if a["(code)"] == b["(code)"] {
            differences(&a, &b, "", &mut found);
        } else {
            // What else differs follows from that.
            found.push(("(code)".to_owned(), a.to_string(), b.to_string()));
        }
        if !found.is_empty() {
            describe(&mut report, number + 1, left, right, &found);
        }
    }
    (!report.is_empty()).then(|| format!("\n=== {}: {}\n{report}", case.topic, case.name))
}

/// An answer as one value: code, headers, body.
fn whole(answer: &Answer) -> Value {
    let mut body = answer.body.clone();
    // The body is at the top, so that a pointer into it is short.
    if !body.is_object() {
        body = json!({"(body)": body});
    }
    body["(code)"] = answer.code.into();
    body["(headers)"] = json!(answer.headers);
    body
}

/// Leaves what the step says is to be compared.
fn restrict(step: &Step, a: &mut Value, b: &mut Value) {
    for pointer in &step.ignore {
        forget(a, pointer);
        forget(b, pointer);
    }
    let Some(only) = &step.only else { return };
    for value in [a, b] {
        let mut kept = Map::from_iter([("(code)".to_owned(), value["(code)"].clone())]);
        if let Some(reason) = value.get("reason") {
            kept.insert("reason".to_owned(), reason.clone());
        }
        for pointer in only {
            kept.insert(pointer.clone(), value.pointer(pointer).cloned().unwrap_or_default());
        }
        *value = Value::Object(kept);
    }
}

/// Removes what a pointer with `*` for any one word leads to.
pub(crate) fn forget(value: &mut Value, pointer: &str) {
    let Some(rest) = pointer.strip_prefix('/') else { return };
    let (word, more) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
    let word = word.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Object(fields) if more.is_empty() && word == "*" => fields.clear(),
        Value::Object(fields) if more.is_empty() => drop(fields.remove(&word)),
        Value::Object(fields) if word == "*" => fields.values_mut().for_each(|value| forget(value, more)),
        Value::Object(fields) => {
            if let Some(value) = fields.get_mut(&word) {
                forget(value, more);
            }
        }
        Value::Array(items) if word == "*" => items.iter_mut().for_each(|value| forget(value, more)),
        Value::Array(items) => {
            if let Some(value) = word.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                forget(value, more);
            }
        }
        _ => {}
    }
}

fn take(value: &mut Value, pointer: &str) -> Value {
    if pointer.is_empty() {
        return std::mem::replace(value, json!({}));
    }
    value.pointer_mut(pointer).map(Value::take).unwrap_or_default()
}

/// Where two values differ: the place, and what is there on both sides.
fn differences(a: &Value, b: &Value, at: &str, found: &mut Vec<(String, String, String)>) {
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => {
            let names: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for name in names {
                let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (left.get(name), right.get(name)) {
                    (Some(a), Some(b)) => differences(a, b, &place, found),
                    (a, b) => found.push((place, shown(a), shown(b))),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let place = format!("{at}/{index}");
                match (left.get(index), right.get(index)) {
                    (Some(a), Some(b)) => differences(a, b, &place, found),
                    (a, b) => found.push((place, shown(a), shown(b))),
                }
            }
        }
        (a, b) if a != b => found.push((at.to_owned(), shown(Some(a)), shown(Some(b)))),
        _ => {}
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "(nothing)".to_owned(), ToString::to_string)
}

fn describe(
    report: &mut String,
    number: usize,
    left: &Answer,
    right: &Answer,
    found: &[(String, String, String)],
) {
    let _ = writeln!(report, "step {number}: {}", left.asked.line);
    if !left.asked.body.is_empty() {
        let _ = writeln!(report, "  sent: {}", left.asked.body);
    }
    for (place, a, b) in found {
        let _ = writeln!(report, "  {place}\n    real: {}\n    ours: {}", short(a), short(b));
    }
    if std::env::var_os("MUSTER_SHOW").is_some() {
        for (side, answer) in [("real", left), ("ours", right)] {
            let _ = writeln!(report, "  {side} {} {}", answer.code, pretty(&answer.body));
        }
    }
}

fn short(text: &str) -> String {
    if text.chars().count() < 600 {
        text.to_owned()
    } else {
        text.chars().take(600).chain("…".chars()).collect()
    }
}

fn pretty(body: &Value) -> String {
    let text = serde_json::to_string_pretty(body).unwrap();
    text.lines().take(SHOWN_LINES).collect::<Vec<_>>().join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_differences_are_named() {
        let mut found = Vec::new();
        differences(&json!({"a": [1, 2], "b/c": 1}), &json!({"a": [1, 3]}), "", &mut found);
        let places: Vec<_> = found.iter().map(|(place, ..)| place.as_str()).collect();
        assert_eq!(places, ["/a/1", "/b~1c"]);
    }

    /// A case of one step, whose answer is known to differ in all of it.
    fn compared(real: u16, ours: u16, known: bool) -> Option<String> {
        let case = "{name: x, steps: [{do: GET /x}], differs: [{step: 1, at: '', ours: 201, reason: y}]}";
        let answer = |code: u16| Answer {
            asked: crate::run::Asked::default(),
            code,
            headers: std::collections::BTreeMap::new(),
            body: json!({"code": code}),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        compare(&serde_yaml_ng::from_str(case).unwrap(), &[answer(real)], &[answer(ours)], known)
    }

    #[test]
    fn an_answer_that_differs_in_all_has_the_code_that_was_said() {
        assert_eq!(compared(422, 201, true), None);
        assert!(compared(422, 500, true).unwrap().contains("not by 500"));
        assert!(compared(201, 201, true).unwrap().contains("does not differ any more"));
        assert_eq!(compared(422, 422, false), None, "two real servers");
    }

    #[test]
    fn a_star_is_any_word() {
        let mut value = json!({"items": [{"a": 1, "b": 2}, {"a": 3}]});
        forget(&mut value, "/items/*/a");
        assert_eq!(value, json!({"items": [{"b": 2}, {}]}));
    }
}
