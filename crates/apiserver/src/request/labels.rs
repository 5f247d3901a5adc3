//! Label selectors: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::selector::{MAX_SELECTOR_BYTES, SelectorError};
use crate::kind::metadata::{label_key, label_value};

/// One requirement on a label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
    Exists(String),
    Absent(String),
    Above(String, i64),
    Below(String, i64),
}

/// A label selector: every requirement must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Requirement>);

impl Labels {
    /// Understands a selector.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(SelectorError::new(format!("a selector has at most {MAX_SELECTOR_BYTES} bytes")));
        }
        Parser { tokens: scan(text), at: 0 }.selector().map(Self).map_err(SelectorError::new)
    }

    /// Whether this object is selected.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        let label = |name: &str| labels.and_then(|labels| labels.get(name)).and_then(Value::as_str);
        let number = |name: &str| label(name).and_then(|value| value.parse::<i64>().ok());
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(name, values) => label(name).is_some_and(|value| values.contains(value)),
            Requirement::NotIn(name, values) => label(name).is_none_or(|value| !values.contains(value)),
            Requirement::Exists(name) => label(name).is_some(),
            Requirement::Absent(name) => label(name).is_none(),
            Requirement::Above(name, bound) => number(name).is_some_and(|value| value > *bound),
            Requirement::Below(name, bound) => number(name).is_some_and(|value| value < *bound),
        })
    }
}

/// A piece of a selector; words and operators are told apart by where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 9] = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];

fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', '\r', '\n']);
    while !rest.is_empty() {
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
        let length = sign.map_or_else(|| word_length(rest), str::len);
        let word = || Token::Word(rest[..length].to_owned());
        tokens.push(sign.map_or_else(word, Token::Sign));
        rest = rest[length..].trim_start_matches([' ', '\t', '\r', '\n']);
    }
    tokens
}

fn word_length(text: &str) -> usize {
    text.find(['=', '!', '(', ')', ',', '>', '<', ' ', '\t', '\r', '\n']).unwrap_or(text.len())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    /// The text of the next token; "" at the end.
    fn next(&self) -> &str {
        match self.tokens.get(self.at) {
            Some(Token::Word(word)) => word,
            Some(Token::Sign(sign)) => sign,
            None => "",
        }
    }

    fn is_word(&self) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Word(_)))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(found)) if *found == sign)
    }

    fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn take(&mut self) -> String {
        let taken = self.next().to_owned();
        self.at += 1;
        taken
    }

    fn expected(&self, what: &str) -> String {
        format!("found '{}', expected: {what}", self.next())
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        while !self.is_end() {
            if !self.is_word() && !self.is_sign("!") {
                return Err(self.expected("!, identifier, or 'end of string'"));
            }
            let requirement = self.requirement();
            requirements.push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
            if self.is_end() {
                break;
            }
            if !self.is_sign(",") {
                return Err(self.expected("',' or 'end of string'"));
            }
            self.at += 1;
            if !self.is_word() && !self.is_sign("!") {
                return Err(self.expected("identifier after ','"));
            }
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = self.is_sign("!");
        self.at += usize::from(absent);
        if !self.is_word() {
            return Err(self.expected("identifier"));
        }
        let name = self.take();
        let wrong = label_key(&name);
        if !wrong.is_empty() {
            return Err(format!("<nil>: Invalid value: {name:?}: {}", wrong.join("; ")));
        }
        if absent {
            return Ok(Requirement::Absent(name));
        }
        if self.is_end() || self.is_sign(",") {
            return Ok(Requirement::Exists(name));
        }
        match self.next() {
            "in" | "notin" => self.one_of(name),
            "=" | "==" | "!=" | ">" | "<" => self.compared(name),
            _ => Err(self.expected("in, notin, =, ==, !=, gt, lt")),
        }
    }

    /// `in (a,b)`, `notin (a)`.
    fn one_of(&mut self, name: String) -> Result<Requirement, String> {
        let negated = self.take() == "notin";
        let values = self.values()?;
        if values.is_empty() {
            let why = "for 'in', 'notin' operators, values set can't be empty";
            return Err(format!("values: Invalid value: []: {why}"));
        }
        check_values(&name, &values)?;
        let values = values.into_iter().collect();
        Ok(if negated { Requirement::NotIn(name, values) } else { Requirement::In(name, values) })
    }

    /// `= a`, `!= a`, `> 1`, `< 1`.
    fn compared(&mut self, name: String) -> Result<Requirement, String> {
        let operator = self.take();
        let value = if self.is_end() || self.is_sign(",") {
            String::new()
        } else if self.is_word() {
            self.take()
        } else {
            return Err(self.expected("identifier"));
        };
        let bound = || {
            value.parse::<i64>().map_err(|_| {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer";
                format!("values[0]: Invalid value: {value:?}: {why}")
            })
        };
        match operator.as_str() {
            ">" => return Ok(Requirement::Above(name, bound()?)),
            "<" => return Ok(Requirement::Below(name, bound()?)),
            _ => {}
        }
        check_values(&name, std::slice::from_ref(&value))?;
        let values = BTreeSet::from([value]);
        Ok(if operator == "!=" { Requirement::NotIn(name, values) } else { Requirement::In(name, values) })
    }

    /// `(a,b)`; what is left out between commas is "".
    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.is_sign("(") {
            return Err(format!("found '{}' expected: '('", self.next()));
        }
        self.at += 1;
        let mut values = Vec::new();
        if self.is_sign(")") {
            self.at += 1;
            return Ok(values);
        }
        if !self.is_word() && !self.is_sign(",") {
            return Err(self.expected("',', ')' or identifier"));
        }
        loop {
            let value = if self.is_word() { self.take() } else { String::new() };
            values.push(value);
            if self.is_sign(")") {
                self.at += 1;
                return Ok(values);
            }
            if !self.is_sign(",") {
                return Err(self.expected("',' or ')'"));
            }
            self.at += 1;
        }
    }
}

fn check_values(name: &str, values: &[String]) -> Result<(), String> {
    let wrong = values.iter().enumerate().filter_map(|(index, value)| {
        let wrong = label_value(value);
        let said = || format!("values[{index}][{name}]: Invalid value: {value:?}: {}", wrong.join("; "));
        (!wrong.is_empty()).then(said)
    });
    let wrong: Vec<String> = wrong.collect();
    match wrong.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(selector: &str) -> bool {
        let labels = json!({"app": "db", "tier": "gold", "empty": "", "count": "3", "in": "x"});
        Labels::parse(selector).unwrap().matches(&json!({"metadata": {"name": "x", "labels": labels}}))
    }

    #[test]
    fn every_form_of_requirement() {
        for yes in [
            "",
            "app=db",
            "app==db",
            "app!=web",
            "other!=x",
            "app in (db,web)",
            "app notin (web)",
            "app",
            "!other",
            "other notin (x)",
            "empty=",
            "empty in (,x)",
            "app = db , tier in ( gold )",
            "example.org/x!=y",
            "count>2",
            "count < 4,app",
            "in=x",
            "in in (x)",
        ] {
            assert!(selects(yes), "{yes}");
        }
        for no in [
            "app=web",
            "app!=db",
            "other=x",
            "app in (web)",
            "app notin (db,web)",
            "other",
            "!app",
            "app=db,tier=silver",
            "count>3",
            "app>1",
            "other<5",
        ] {
            assert!(!selects(no), "{no}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_a_reason() {
        for (bad, why) in [
            ("=x", "found '=', expected: !, identifier, or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a in x", "unable to parse requirement: found 'x' expected: '('"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a,,b", "found ',', expected: identifier after ','"),
            (",", "found ',', expected: !, identifier, or 'end of string'"),
        ] {
            assert_eq!(Labels::parse(bad).unwrap_err().to_string(), why, "{bad}");
        }
        for bad in ["-a", "a/b/c", "a=b/c", "a=b=c", "!a=b", "a in ()", "a>b"] {
            assert!(Labels::parse(bad).is_err(), "{bad}");
        }
        assert!(Labels::parse(&"a".repeat(MAX_SELECTOR_BYTES + 1)).is_err());
    }
}
