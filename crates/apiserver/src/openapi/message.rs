//! The bytes of a protobuf message, as they are written.
//!
//! What is not there, and what is empty, is not written: a reader takes it for what it is without.

use serde_json::Value;

/// A message that grows, field by field. Fields are told by their numbers.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A text.
    pub(super) fn text(&mut self, field: u32, value: &Value) {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            self.bytes(field, text.as_bytes());
        }
    }

    /// Texts of a list; one that stands alone is a list too.
    pub(super) fn texts(&mut self, field: u32, value: &Value) {
        for text in several(value).iter().filter_map(Value::as_str) {
            self.bytes(field, text.as_bytes());
        }
    }

    pub(super) fn flag(&mut self, field: u32, value: &Value) {
        if value.as_bool() == Some(true) {
            self.number(u64::from(field) << 3);
            self.number(1);
        }
    }

    pub(super) fn integer(&mut self, field: u32, value: &Value) {
        if let Some(number) = value.as_i64().filter(|number| *number != 0) {
            self.number(u64::from(field) << 3);
            self.number(number.cast_unsigned());
        }
    }

    pub(super) fn float(&mut self, field: u32, value: &Value) {
        if let Some(number) = value.as_f64().filter(|number| *number != 0.0) {
            self.number(u64::from(field) << 3 | 1);
            self.0.extend(number.to_le_bytes());
        }
    }

    /// A message inside this one.
    pub(super) fn inside(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// A message inside this one, for each item of a list.
    pub(super) fn each(&mut self, field: u32, value: &Value, write: impl Fn(&mut Self, &Value)) {
        for item in value.as_array().into_iter().flatten() {
            self.inside(field, |inner| write(inner, item));
        }
    }

    /// A message inside this one, where there is something to be said.
    pub(super) fn given(&mut self, field: u32, value: &Value, write: impl FnOnce(&mut Self, &Value)) {
        if !value.is_null() {
            self.inside(field, |inner| write(inner, value));
        }
    }

    /// The entries of an object, each a pair of a name and what it names.
    pub(super) fn named(&mut self, field: u32, object: &Value, write: impl Fn(&mut Self, &Value)) {
        for (name, value) in object.as_object().into_iter().flatten() {
            self.pair(field, name, |inner| write(inner, value));
        }
    }

    /// What a description says under names of its own, as any value.
    pub(super) fn extensions(&mut self, field: u32, of: &Value) {
        for (name, value) in of.as_object().into_iter().flatten() {
            if name.starts_with("x-") {
                self.pair(field, name, |inner| any(inner, value));
            }
        }
    }

    fn pair(&mut self, field: u32, name: &str, write: impl FnOnce(&mut Self)) {
        self.inside(field, |pair| {
            pair.bytes(1, name.as_bytes());
            pair.inside(2, write);
        });
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.number(u64::from(field) << 3 | 2);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Seven bits in each byte, the lowest first.
    fn number(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                self.0.push(low);
                return;
            }
            self.0.push(low | 0x80);
        }
    }
}

/// Any value, in YAML; JSON is YAML.
pub(super) fn any(message: &mut Message, value: &Value) {
    message.text(2, &format!("{value}\n").into());
}

fn several(value: &Value) -> &[Value] {
    value.as_array().map_or(if value.is_null() { &[] } else { std::slice::from_ref(value) }, Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_written_by_their_numbers() {
        let mut message = Message::default();
        message.integer(1, &json!(150));
        message.text(2, &json!("hi"));
        message.float(3, &json!(1));
        message.flag(4, &json!(true));
        message.inside(5, |inner| inner.texts(1, &json!(["a", "b"])));
        let bytes =
            b"\x08\x96\x01\x12\x02hi\x19\x00\x00\x00\x00\x00\x00\xf0\x3f\x20\x01\x2a\x06\x0a\x01a\x0a\x01b";
        assert_eq!(message.into_bytes(), bytes);
    }

    #[test]
    fn what_is_empty_is_not_written() {
        let mut message = Message::default();
        message.integer(1, &json!(0));
        message.text(2, &json!(""));
        message.float(3, &Value::Null);
        message.flag(4, &json!(false));
        message.given(5, &Value::Null, |inner, value| inner.text(1, value));
        assert!(message.into_bytes().is_empty());
    }
}
