//! What must differ between two servers gets a name that does not: uids, versions, times, what is chosen by chance.
//!
//! A name says what can be compared: which of two values are the same, and which version is later. The numbers of
//! versions are ranks among the objects of the case; a version that is of no object (of a list or a bookmark) is
//! named after the last one of an object that it includes, because other requests move it too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::run::Answer;

fn regex(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static UID: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static TIME: LazyLock<Regex> = LazyLock::new(|| regex(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"\b10\.0\.0\.\d{1,3}\b"));
static AGE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\d+m)?\d+s$"));
/// Versions and durations that are named in sentences.
static SENTENCES: LazyLock<[(Regex, &'static str); 8]> = LazyLock::new(|| {
    [
        (regex(r#"(\\?"resourceVersion\\?":\\?)"\d+"#), "$1\"<version>"),
        (regex(r"Key: /[^/]+/"), "Key: /<prefix>/"),
        // Protobuf is not served, and therefore not offered.
        (regex(r", application/vnd\.kubernetes\.protobuf(;stream=watch)?"), ""),
        (regex(r"in record \(\d+\)"), "in record (<version>)"),
        (regex(r"current: \d+"), "current: <version>"),
        (regex(r"(too old resource version: \d+) \(\d+\)"), "$1 (<version>)"),
        (regex(r"\(\d+ (milli)?seconds?\)"), "(<duration>)"),
        (regex(r"https://127\.0\.0\.1:\d+"), "https://<server>"),
    ]
});

/// A time this long from its answer is a time to come.
const SOON_SECONDS: i64 = 5;

/// The names of one case on one server.
pub(crate) struct Names {
    /// All that the case itself sends: it stays as it is.
    sent: String,
    versions: BTreeSet<u64>,
    generated: Vec<String>,
    /// By what is named, in order of appearance.
    given: BTreeMap<&'static str, Vec<String>>,
}

/// Gives names in all answers; `sent` is the text of the case.
pub(crate) fn normalise(answers: &[Answer], sent: &str) -> Vec<Answer> {
    let mut names = Names {
        sent: sent.to_owned(),
        versions: BTreeSet::new(),
        generated: Vec::new(),
        given: BTreeMap::new(),
    };
    for answer in answers {
        names.learn(&answer.body);
    }
    let mut normal = answers.to_vec();
    for answer in &mut normal {
        let at = answer.at;
        names.rename(&mut answer.body, "", at);
        order_causes(&mut answer.body);
        order_resources(&mut answer.body);
        for values in answer.headers.values_mut() {
            for value in values {
                *value = names.text(value);
            }
        }
    }
    normal
}

impl Names {
    /// Collects the versions of objects and generated names.
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(fields) => {
                if is_object_metadata(value)
                    && let Some(version) = version_of(value)
                {
                    self.versions.insert(version);
                }
                let text = |name: &str| fields.get(name).and_then(Value::as_str);
                if let (Some(prefix), Some(name)) = (text("generateName"), text("name"))
                    && name.len() > prefix.len()
                    && !self.generated.iter().any(|known| known == name)
                {
                    self.generated.push(name.to_owned());
                }
                fields.values().for_each(|value| self.learn(value));
            }
            _ => {}
        }
    }

    fn rename(&mut self, value: &mut Value, key: &str, at: Timestamp) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item, key, at)),
            Value::Object(fields) => {
                let of_object = fields.contains_key("name") || fields.contains_key("uid");
                if fields.keys().any(|name| UID.is_match(name)) {
                    let old = std::mem::take(fields);
                    fields.extend(old.into_iter().map(|(name, value)| (self.text(&name), value)));
                }
                for (name, value) in fields.iter_mut() {
                    match name.as_str() {
                        "resourceVersion" => self.rename_version(value, of_object),
                        "continue" if value.as_str().is_some_and(|token| !token.is_empty()) => {
                            *value = "<continue>".into();
                        }
                        "managedFields" => {
                            self.rename(value, name, at);
                            order_managers(value);
                        }
                        _ => self.rename(value, name, at),
                    }
                }
            }
            Value::String(text) => {
                *value = Value::String(if key == "cells" && AGE.is_match(text) {
                    "<age>".to_owned()
                } else {
                    let renamed = self.text(text);
                    self.times(&renamed, at)
                });
            }
            Value::Number(number) if key == "nodePort" || key == "healthCheckNodePort" => {
                let port = number.to_string();
                if !self.sent.contains(&port) {
                    *value = Value::String(self.named("port", &port));
                }
            }
            _ => {}
        }
    }

    fn rename_version(&self, value: &mut Value, of_object: bool) {
        let Some(version) = value.as_str().and_then(|text| text.parse::<u64>().ok()) else { return };
        let rank = self.versions.range(..=version).count();
        let name = if of_object && self.versions.contains(&version) {
            format!("<version {rank}>")
        } else if version == 0 {
            return;
        } else {
            format!("<version {rank} or later>")
        };
        *value = Value::String(name);
    }

    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (number, name) in self.generated.iter().enumerate() {
            text = text.replace(name, &format!("<generated {}>", number + 1));
        }
        for (what, pattern) in [("uid", &UID), ("address", &ADDRESS)] {
            let put = |found: &Captures<'_>| {
                if self.sent.contains(&found[0]) { found[0].to_owned() } else { self.named(what, &found[0]) }
            };
            text = pattern.replace_all(&text, put).into_owned();
        }
        for (pattern, put) in SENTENCES.iter() {
            text = pattern.replace_all(&text, *put).into_owned();
        }
        text
    }

    fn times(&self, text: &str, at: Timestamp) -> String {
        let put = |found: &Captures<'_>| {
            if self.sent.contains(&found[0]) { found[0].to_owned() } else { time(&found[0], at) }
        };
        TIME.replace_all(text, put).into_owned()
    }

    fn named(&mut self, what: &'static str, value: &str) -> String {
        let known = self.given.entry(what).or_default();
        let position = known.iter().position(|known| known == value).unwrap_or_else(|| {
            known.push(value.to_owned());
            known.len() - 1
        });
        format!("<{what} {}>", position + 1)
    }
}

/// Managers come in the order of their times, which are seconds: the same second or the next is chance.
fn order_managers(entries: &mut Value) {
    let key = |entry: &Value| {
        ["operation", "manager", "subresource", "apiVersion"].map(|name| entry[name].to_string())
    };
    if let Value::Array(entries) = entries {
        entries.sort_by_key(key);
    }
}

/// The resources of a group of custom resources come in any order.
fn order_resources(list: &mut Value) {
    if let Some(Value::Array(resources)) = list.get_mut("resources") {
        resources.sort_by_key(|resource| resource["name"].to_string());
    }
}

/// The problems of a custom resource and the conflicts of an apply come in any order: the real server walks maps.
fn order_causes(status: &mut Value) {
    let group = status.pointer("/details/group").and_then(Value::as_str);
    let custom = group.is_some_and(|group| group.ends_with("example.com"));
    if !custom && status.get("reason").is_none_or(|reason| reason != "Conflict") {
        return;
    }
    let Some(Value::Array(causes)) = status.pointer_mut("/details/causes") else { return };
    if causes.len() < 2 {
        return;
    }
    causes.sort_by_key(ToString::to_string);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said: Vec<_> = causes.iter().map(|c| text(&c["field"]) + ": " + &text(&c["message"])).collect();
    let mut message = text(&status["message"]);
    for said in said {
        message = message.replacen(&said, "<cause>", 1);
    }
    status["message"] = message.into();
}

/// Metadata of an object, not of a list or a bookmark.
fn is_object_metadata(value: &Value) -> bool {
    value.get("uid").is_some() || value.get("name").is_some()
}

fn version_of(metadata: &Value) -> Option<u64> {
    metadata.get("resourceVersion")?.as_str()?.parse().ok()
}

/// `<time>`, with how exact it is, and how far ahead if it is to come.
fn time(text: &str, at: Timestamp) -> String {
    let exact = if text.contains('.') { ".micro" } else { "" };
    let ahead = text.parse::<Timestamp>().map_or(0, |time| time.as_second() - at.as_second());
    if ahead > SOON_SECONDS {
        // Whole tens: the answer may have taken a moment.
        return format!("<time{exact} + {} s>", (ahead + SOON_SECONDS) / 10 * 10);
    }
    format!("<time{exact}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Asked;
    use serde_json::json;

    fn answer(body: Value) -> Answer {
        let at = "2026-05-01T00:00:00Z".parse().unwrap();
        Answer { asked: Asked::default(), code: 200, headers: BTreeMap::new(), body, at }
    }

    #[test]
    fn versions_are_ranks_among_objects() {
        let answers = [
            answer(json!({"metadata": {"name": "a", "resourceVersion": "700"}})),
            answer(json!({"metadata": {"resourceVersion": "900"}, "items": [
                {"metadata": {"name": "a", "resourceVersion": "705"}}]})),
        ];
        let normal = normalise(&answers, "");
        assert_eq!(normal[0].body["metadata"]["resourceVersion"], "<version 1>");
        assert_eq!(normal[1].body["metadata"]["resourceVersion"], "<version 2 or later>");
        assert_eq!(normal[1].body["items"][0]["metadata"]["resourceVersion"], "<version 2>");
    }

    #[test]
    fn what_was_sent_stays() {
        let body = json!({"a": "10.0.0.7", "b": "10.0.0.8", "t": "2026-05-01T00:00:30Z", "u": "2026-05-01T00:00:00Z"});
        let normal = normalise(&[answer(body)], "clusterIP: 10.0.0.7");
        assert_eq!(normal[0].body, {
            json!({"a": "10.0.0.7", "b": "<address 1>", "t": "<time + 30 s>", "u": "<time>"})
        });
    }
}
