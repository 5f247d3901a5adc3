//! YAML, read as Go's reader of YAML 1.1 does: what is not quoted may be a number or a switch in more ways than in
//! YAML 1.2, and errors have its words.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde_json::{Map, Value};

use super::{Decoded, MAX_NOTED};
use crate::go::float;

/// Reads the first document of a text.
pub(super) fn read(text: &[u8]) -> Result<Decoded, String> {
    let notes = Notes { text, first: Cell::new(None) };
    let mut lines = Vec::new();
    let Some(document) = serde_yaml_ng::Deserializer::from_slice(text).next() else {
        return Ok(Decoded::default());
    };
    let place = Place { notes: &notes, lines: &mut lines };
    let value = place.deserialize(document).map_err(|error| told(text, &error))?;
    Ok(Decoded { value, lines, ..Decoded::default() })
}

/// What is said of a text that cannot be read.
fn told(text: &[u8], error: &serde_yaml_ng::Error) -> String {
    let words = error.to_string();
    let at = error.location().filter(|_| words.contains("unknown anchor")).map(|place| place.index());
    let Some(rest) = at.and_then(|at| text.get(at + 1..)) else { return in_words_of_go(&words) };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let name: Vec<u8> = rest.iter().copied().take_while(is_part).collect();
    format!("yaml: unknown anchor '{}' referenced", String::from_utf8_lossy(&name))
}

/// What is noted on the way.
struct Notes<'de> {
    text: &'de [u8],
    /// Where the first text of what is being read begins, as far as it is known.
    first: Cell<Option<usize>>,
}

impl Notes<'_> {
    /// Where a part of the text begins.
    fn place(&self, part: &str) -> Option<usize> {
        let at = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (at < self.text.len()).then_some(at)
    }

    fn is_quoted(&self, part: &str) -> bool {
        let before = self.place(part).and_then(|at| at.checked_sub(1));
        before.is_some_and(|before| matches!(self.text[before], b'"' | b'\''))
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].split(|byte| *byte == b'\n').count()
    }
}

/// A place in a document.
struct Place<'a, 'de> {
    notes: &'a Notes<'de>,
    lines: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_, 'de> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_, 'de> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // Kubernetes knows signed numbers only: a greater one is a float.
        #[expect(clippy::cast_precision_loss, reason = "as Go's decoder rounds it")]
        Ok(i64::try_from(value).map_or_else(|_| float(value as f64), Value::from))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "as Go's decoder rounds it")]
        Ok(float(value as f64))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "as Go's decoder rounds it")]
        Ok(float(value as f64))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if value.is_finite() { Ok(float(value)) } else { Err(E::custom("json: unsupported value")) }
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value, E> {
        let first = self.notes.first.take().or_else(|| self.notes.place(text));
        self.notes.first.set(first);
        Ok(if self.notes.is_quoted(text) { text.into() } else { resolved(text) })
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    /// A tag says nothing here.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_, content) = tagged.variant::<IgnoredAny>()?;
        content.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Place { notes: self.notes, lines: self.lines })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        loop {
            let around = self.notes.first.take();
            let key = entries.next_key_seed(Place { notes: self.notes, lines: self.lines })?;
            let at_key = self.notes.first.take();
            let Some(key) = key else {
                self.notes.first.set(around);
                return Ok(Value::Object(fields));
            };
            let name = match key {
                Value::String(name) => name,
                other @ (Value::Number(_) | Value::Bool(_)) => other.to_string(),
                _ => return Err(A::Error::custom("invalid map key")),
            };
            let value = entries.next_value_seed(Place { notes: self.notes, lines: self.lines })?;
            let at_value = self.notes.first.take();
            self.notes.first.set(around.or(at_key).or(at_value));
            if fields.contains_key(&name) && self.lines.len() < MAX_NOTED {
                let line = at_value.or(at_key).map_or(1, |at| self.notes.line(at));
                self.lines.push(format!("line {line}: key {name:?} already set in map"));
            }
            fields.insert(name, value);
        }
    }
}

/// What a text is that is not quoted.
fn resolved(text: &str) -> Value {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => true.into(),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => false.into(),
        _ => number(text).unwrap_or_else(|| text.into()),
    }
}

/// A number in a form that only YAML 1.1 knows: with a zero before its octal digits, or with underscores.
fn number(text: &str) -> Option<Value> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let (sign, unsigned) = match digits.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", digits.strip_prefix('+').unwrap_or(&digits)),
    };
    if text.starts_with('_') || !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (radix, rest) = match unsigned.get(..2) {
        Some("0x" | "0X") => (16, &unsigned[2..]),
        Some("0b" | "0B") => (2, &unsigned[2..]),
        Some("0o" | "0O") => (8, &unsigned[2..]),
        Some(_) if unsigned.starts_with('0') => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    let whole =
        i64::from_str_radix(&format!("{sign}{rest}"), radix).ok().filter(|_| !rest.starts_with(['+', '-']));
    let is_float =
        || unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    whole.map(Value::from).or_else(|| {
        let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite() && is_float())?;
        Some(float(value))
    })
}

/// An error of libyaml, as Go's reader tells it. Both are of one descent, but count lines each in its own way.
fn in_words_of_go(error: &str) -> String {
    let (problem, context) = match error.split_once(", while ") {
        Some((problem, context)) => (problem, context),
        None => (error, ""),
    };
    let (what, line) = line_of(problem);
    let of_scanner = ["scanning", "parsing a quoted scalar", "parsing a tag", "parsing a %TAG"];
    let is_of_scanner = of_scanner.iter().any(|start| context.starts_with(start))
        || what.ends_with("not allowed in this context");
    let line = match line {
        Some(line) if line > 1 => line - 1 + usize::from(is_of_scanner),
        _ => line_of(context).1.map_or(0, |line| line - 1),
    };
    if line == 0 { format!("yaml: {what}") } else { format!("yaml: line {line}: {what}") }
}

/// What is said, and of which line.
fn line_of(text: &str) -> (&str, Option<usize>) {
    let Some((what, place)) = text.rsplit_once(" at ") else { return (text, None) };
    let line = place.strip_prefix("line ").and_then(|rest| rest.split(' ').next());
    match line.map(str::parse) {
        Some(Ok(line)) => (what, Some(line)),
        _ if place.starts_with("position ") => (what, None),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_quoted_is_what_yaml_1_1_makes_of_it() {
        let text = b"a: 1\nb:\n- x\n- true\n- 'y'\n- y\n- \"010\"\n- 010\n- 1_000\n- 2001-01-01\n- |-\n  no\nn: 2\n5: x\n";
        let decoded = read(text).unwrap();
        let items = json!(["x", true, "y", true, "010", 8, 1000, "2001-01-01", "no"]);
        assert_eq!(decoded.value, json!({"a": 1, "b": items, "false": 2, "5": "x"}));
        assert_eq!(read(b"").unwrap().value, Value::Null);
        assert_eq!(read(b"a: 1\n---\na: 2\n").unwrap().value, json!({"a": 1}));
    }

    #[test]
    fn what_is_set_again_is_told_with_the_line_of_its_value() {
        let decoded = read(b"a: {x: '1'}\nb: c\na: {y: '2',\n x: z, x: w}\nb: [d]\n").unwrap();
        let told = ["line 4: key \"x\" already set in map", "line 3: key \"a\" already set in map"];
        assert_eq!(decoded.lines[..2], told);
        assert_eq!(decoded.lines[2], "line 5: key \"b\" already set in map");
    }

    #[test]
    fn errors_have_the_words_of_go() {
        let cases: [(&[u8], &str); 4] = [
            (b"a: [unclosed", "yaml: line 1: did not find expected ',' or ']'"),
            (b"{", "yaml: line 1: did not find expected node content"),
            (b"a: b: c", "yaml: mapping values are not allowed in this context"),
            (b"a: *bc-d ", "yaml: unknown anchor 'bc-d' referenced"),
        ];
        for (text, words) in cases {
            assert_eq!(read(text), Err(words.to_owned()));
        }
    }
}
