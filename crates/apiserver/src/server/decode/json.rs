//! JSON, read as Go reads it: what is no text becomes U+FFFD, and where a text is no JSON the error has the words of Go's
//! reader, which clients are shown.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::strings;
use super::{Decoded, MAX_NOTED, Repeated, merge};

/// How deep values may be nested. Go's limit is 10,000: a stack is the smaller thing here, and objects are read back by
/// `serde_json`, which stops at 128.
const MAX_DEPTH: usize = 127;

/// The error for a text that ends too early.
const ENDED: &str = "unexpected end of JSON input";

/// Reads a text.
pub(super) fn read(text: &[u8], repeated: Repeated) -> Result<Decoded, String> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        repeated,
        path: String::new(),
        duplicates: Vec::new(),
        too_large: None,
    };
    let value = reader.value()?;
    reader.skip_spaces();
    if reader.at < text.len() {
        return Err(reader.wrong("after top-level value"));
    }
    Ok(Decoded { value, duplicates: reader.duplicates, too_large: reader.too_large, ..Decoded::default() })
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    repeated: Repeated,
    /// Where it is, as fields that are there twice are named.
    path: String,
    duplicates: Vec<String>,
    too_large: Option<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The error for the byte that comes next. Inside of a word the end of the text counts as a space, as with Go.
    fn wrong(&self, context: &str) -> String {
        format!("invalid character {} {context}", strings::quoted_byte(self.peek().unwrap_or(b' ')))
    }

    /// The same, between words.
    fn wrong_or_ended(&self, context: &str) -> String {
        if self.at < self.text.len() { self.wrong(context) } else { ENDED.to_owned() }
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Whether this comes next, after spaces; it is then read.
    fn takes(&mut self, wanted: u8) -> bool {
        self.skip_spaces();
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip_spaces();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.wrong_or_ended("looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        if self.depth == MAX_DEPTH {
            return Err(self.wrong("exceeded max depth"));
        }
        self.at += 1;
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            let length = self.path.len();
            let _ = write!(self.path, "[{}]", items.len());
            items.push(self.value()?);
            self.path.truncate(length);
            if self.takes(b']') {
                return Ok(Value::Array(items));
            }
            if !self.takes(b',') {
                return Err(self.wrong_or_ended("after array element"));
            }
        }
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut fields = Map::new();
        if self.takes(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return Err(self.wrong_or_ended("looking for beginning of object key string"));
            }
            let name = self.string()?;
            if !self.takes(b':') {
                return Err(self.wrong_or_ended("after object key"));
            }
            self.field(&mut fields, name)?;
            if self.takes(b'}') {
                return Ok(Value::Object(fields));
            }
            if !self.takes(b',') {
                return Err(self.wrong_or_ended("after object key:value pair"));
            }
        }
    }

    fn field(&mut self, fields: &mut Map<String, Value>, name: String) -> Result<(), String> {
        let length = self.path.len();
        // A name may be empty: it counts nevertheless.
        if self.depth > 1 {
            self.path.push('.');
        }
        self.path.push_str(&name);
        let before = fields.remove(&name);
        if before.is_some() && self.duplicates.len() < MAX_NOTED && !self.duplicates.contains(&self.path) {
            self.duplicates.push(self.path.clone());
        }
        let value = self.value()?;
        self.path.truncate(length);
        let value = match before {
            Some(before) if self.repeated == Repeated::Merged => merge(before, value),
            _ => value,
        };
        fields.insert(name, value);
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, String> {
        self.at += 1;
        for expected in word.bytes().skip(1) {
            if self.peek() != Some(expected) {
                return Err(self.wrong(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.peek() {
                None => return Err(ENDED.to_owned()),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) => return Err(self.wrong("in string literal")),
                Some(_) => self.at += 1,
            }
        }
        let text = strings::unescaped(&self.text[start..self.at]);
        self.at += 1;
        Ok(text)
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.wrong("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.wrong("in string escape code")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits("in exponent of numeric literal")?;
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if let Ok(number) = text.parse::<i64>() {
            return Ok(number.into());
        }
        let number = text.parse().ok().and_then(Number::from_f64);
        if number.is_none() {
            self.too_large.get_or_insert(text);
        }
        Ok(number.or_else(|| Number::from_f64(f64::MAX)).map_or(Value::Null, Value::Number))
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.wrong(context));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &[u8]) -> Value {
        read(text, Repeated::Last).unwrap().value
    }

    #[test]
    fn what_is_no_json_is_refused_in_the_words_of_go() {
        let cases: [(&[u8], &str); 26] = [
            (b"", ENDED),
            (b"{", ENDED),
            (b"{\"a\":\"b", ENDED),
            (b"[1", ENDED),
            (b"nonsense", "invalid character 'o' in literal null (expecting 'u')"),
            (b"tr", "invalid character ' ' in literal true (expecting 'u')"),
            (b"x", "invalid character 'x' looking for beginning of value"),
            (b"[,]", "invalid character ',' looking for beginning of value"),
            (b"[1 2]", "invalid character '2' after array element"),
            (b"{} {}", "invalid character '{' after top-level value"),
            (b"01", "invalid character '1' after top-level value"),
            (b"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            (b"{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
            (b"{\"a\" 1}", "invalid character '1' after object key"),
            (b"{\"a\":01}", "invalid character '1' after object key:value pair"),
            (b"{\"a\":1\"b\"}", "invalid character '\"' after object key:value pair"),
            (b"\"\t\"", "invalid character '\\t' in string literal"),
            (b"\"\x01\"", "invalid character '\\x01' in string literal"),
            (b"\"\\x\"", "invalid character 'x' in string escape code"),
            (b"\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape"),
            (b"-", "invalid character ' ' in numeric literal"),
            (b"-x", "invalid character 'x' in numeric literal"),
            (b"1.", "invalid character ' ' after decimal point in numeric literal"),
            (b"1e+", "invalid character ' ' in exponent of numeric literal"),
            (b"\xff", "invalid character '\u{ff}' looking for beginning of value"),
            (b"\x80", "invalid character '\\u0080' looking for beginning of value"),
        ];
        for (text, words) in cases {
            assert_eq!(read(text, Repeated::Last), Err(words.to_owned()), "{}", text.escape_ascii());
        }
        let deep = "[".repeat(100_000);
        let refused = read(deep.as_bytes(), Repeated::Last);
        assert_eq!(refused, Err("invalid character '[' exceeded max depth".to_owned()));
        assert!(read(&b"[".repeat(MAX_DEPTH), Repeated::Last) == Err(ENDED.to_owned()));
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(value(b"\"a\xffb\""), json!("a\u{fffd}b"));
        assert_eq!(value(b"\"\xe2\x82b\""), json!("\u{fffd}\u{fffd}b"));
        assert_eq!(value(br#""\ud800""#), json!("\u{fffd}"));
        assert_eq!(
            value(br#""\ud800\u0041\udc00\ud83d\ude00\/\b""#),
            json!("\u{fffd}A\u{fffd}\u{1f600}/\u{8}")
        );
    }

    #[test]
    fn numbers_are_integers_where_they_look_like_it_and_fit() {
        assert_eq!(value(b"[-0, 9223372036854775807, 1.0]"), json!([0, i64::MAX, 1.0]));
        assert!(value(b"[9223372036854775808]")[0].is_f64());
        let large = read(b"[1e999, 1e998]", Repeated::Last).unwrap();
        assert_eq!(large.too_large.as_deref(), Some("1e999"));
    }

    #[test]
    fn what_is_there_twice_is_named_and_the_last_counts() {
        let text = br#"{"a": {"x": 1}, "b": [{"c": 1, "c": 2}], "a": {"y": 3}, "a": {"z": [1]}}"#;
        let decoded = read(text, Repeated::Last).unwrap();
        assert_eq!(decoded.value, json!({"a": {"z": [1]}, "b": [{"c": 2}]}));
        assert_eq!(decoded.duplicates, ["b[0].c", "a"]);
        let unnamed = read(br#"{"": {"b": 1, "b": 2}}"#, Repeated::Last).unwrap();
        assert_eq!(unnamed.duplicates, [".b"]);
        let merged = read(text, Repeated::Merged).unwrap();
        assert_eq!(merged.value, json!({"a": {"x": 1, "y": 3, "z": [1]}, "b": [{"c": 2}]}));
    }
}
