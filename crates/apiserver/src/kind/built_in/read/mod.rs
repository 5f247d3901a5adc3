//! Reads objects through their types, as Go does it: what a type does not know goes, what is empty is left out, and what is
//! always there is put there.

mod convert;
mod quantity;
mod scalars;
#[cfg(test)]
mod tests;
mod times;

use std::fmt::{self, Write as _};

use serde_json::{Map, Value};

use self::scalars::Wrong;
use super::types::{Field, Special, Type, named_struct_of};
use crate::go::settle_floats;

/// The definition of what schemas inside of schemas are.
const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// The type of amounts of resources, by their names.
const RESOURCES: &str = "v1.ResourceList";

/// How many unknown fields are named.
const MAX_UNKNOWN: usize = 100;

/// Reads an object of this definition. Gives the paths of unknown fields, or what is said of a value that cannot be read.
pub(super) fn read(definition: &str, object: &mut Value) -> Result<Vec<String>, String> {
    run(Reader::default(), definition, object)
}

/// The same of an object that was never text: more numbers fit, and errors have other words.
pub(super) fn convert(definition: &str, object: &mut Value) -> Result<Vec<String>, String> {
    settle_floats(object);
    run(Reader { converts: true, ..Reader::default() }, definition, object)
}

fn run(mut reader: Reader, definition: &str, object: &mut Value) -> Result<Vec<String>, String> {
    let of = Type::Struct(definition.to_owned());
    let read = reader.value(object.take(), &of);
    match (read, reader.wrong) {
        (Err(Stop(error)), _) | (Ok(_), Some(error)) => Err(error.to_string()),
        (Ok(read), None) => {
            *object = read;
            Ok(reader.unknown)
        }
    }
}

/// An error after which nothing more is read.
struct Stop(Failure);

#[derive(Default)]
struct Reader {
    /// Whether it reads what was never text.
    converts: bool,
    /// Where it is, as unknown fields are named.
    path: String,
    /// The fields around it, and the struct of the last.
    fields: Vec<&'static str>,
    holder: Option<&'static str>,
    unknown: Vec<String>,
    /// What was wrong first; the rest is read nevertheless.
    wrong: Option<Failure>,
}

impl Reader {
    /// The value as it is printed after it was read.
    fn value(&mut self, value: Value, of: &Type) -> Result<Value, Stop> {
        match (of, value) {
            (Type::Special(special), value) => self.special(*special, value),
            (of, Value::Null) => self.zero(of),
            (Type::Pointer(of), value) => self.value(value, of),
            (Type::Struct(definition), Value::Object(fields)) => self.fields(fields, definition),
            (Type::List { item, .. }, Value::Array(items)) => self.items(items, item),
            (Type::Map { name, value: of }, Value::Object(fields)) => {
                let of = if name == RESOURCES { &Type::Special(Special::Resource) } else { &**of };
                self.entries(fields, of)
            }
            (Type::Bytes, Value::Array(items)) if items.is_empty() => Ok("".into()),
            (of, value) if self.converts => convert::scalar(value, of).map_err(|wrong| Stop(wrong.into())),
            (of, value) => match scalars::read(value, of) {
                Ok(value) => Ok(value),
                Err(wrong) => {
                    let error = self.in_context(wrong.into());
                    self.wrong.get_or_insert(error);
                    self.zero(of)
                }
            },
        }
    }

    /// What a value is that is not set.
    fn zero(&mut self, of: &Type) -> Result<Value, Stop> {
        Ok(match of {
            Type::Text { .. } => "".into(),
            Type::Integer { .. } | Type::Float => 0.into(),
            Type::Bool => false.into(),
            Type::Bytes | Type::Pointer(_) | Type::List { .. } | Type::Map { .. } => Value::Null,
            Type::Struct(definition) => self.fields(Map::new(), definition)?,
            Type::Special(special) => match special {
                Special::Quantity | Special::Resource => "0".into(),
                Special::IntOrString => 0.into(),
                Special::SchemaOrBool => false.into(),
                _ => Value::Null,
            },
        })
    }

    fn fields(&mut self, mut given: Map<String, Value>, definition: &str) -> Result<Value, Stop> {
        let mut read = Map::new();
        let (holder, known) = named_struct_of(definition).unzip();
        for (name, field) in known.into_iter().flatten() {
            let given = given.remove(name);
            if given.is_none() && field.is_left_out() {
                continue;
            }
            let value = self.at_field(name, field, holder, |this| this.field(given, field))?;
            read.extend(value.map(|value| (name.clone(), value)));
        }
        for name in given.keys().take(MAX_UNKNOWN.saturating_sub(self.unknown.len())) {
            let dot = if self.path.is_empty() { "" } else { "." };
            self.unknown.push(format!("{}{dot}{name}", self.path));
        }
        Ok(Value::Object(read))
    }

    /// The field as it is printed, unless it is left out.
    fn field(&mut self, given: Option<Value>, field: &Field) -> Result<Option<Value>, Stop> {
        let value = match given.unwrap_or_default() {
            // Nothing is looked for in a struct that is left out.
            Value::Null if field.omit_zero => Value::Null,
            given => self.value(given, &field.of)?,
        };
        let is_empty = match &field.of {
            Type::Pointer(_) => value.is_null(),
            Type::Struct(_) | Type::Special(_) => false,
            _ => is_empty(&value),
        };
        Ok((!(field.omit_empty && is_empty || field.omit_zero && value.is_null())).then_some(value))
    }

    fn items(&mut self, items: Vec<Value>, of: &Type) -> Result<Value, Stop> {
        if items.is_empty() {
            return Ok(Value::Null);
        }
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let length = self.path.len();
            _ = write!(self.path, "[{index}]");
            let item = self.value(item, of);
            self.path.truncate(length);
            read.push(item?);
        }
        Ok(Value::Array(read))
    }

    fn entries(&mut self, fields: Map<String, Value>, of: &Type) -> Result<Value, Stop> {
        if fields.is_empty() {
            return Ok(Value::Null);
        }
        let mut read = Map::new();
        for (name, value) in fields {
            let length = self.path.len();
            _ = write!(self.path, ".{name}");
            let value = self.value(value, of);
            self.path.truncate(length);
            // Bytes that are not set come back from the store as none.
            let value = value?;
            read.insert(name, if *of == Type::Bytes && value.is_null() { "".into() } else { value });
        }
        Ok(Value::Object(read))
    }

    fn special(&mut self, special: Special, value: Value) -> Result<Value, Stop> {
        let read = match (special, value) {
            (Special::Raw, value) | (Special::SchemaOrBool, value @ Value::Bool(_)) => Ok(value),
            (special, Value::Null) => return self.zero(&Type::Special(special)),
            (Special::Time, value) => times::seconds(&value),
            (Special::MicroTime, value) => times::microseconds(&value),
            (Special::Quantity, value) => quantity::canonical(&value),
            (Special::Resource, value) => quantity::canonical_resource(&value),
            (Special::IntOrString, value) => scalars::int_or_string(value),
            (Special::SchemaOrList | Special::SchemaOrTexts, Value::Array(items)) if items.is_empty() => {
                Ok(Value::Null)
            }
            (Special::SchemaOrTexts, Value::Array(items)) => {
                let item = Type::Text { name: "string".to_owned() };
                return self.apart(
                    Value::Array(items),
                    &Type::List { name: "[]string".to_owned(), item: Box::new(item) },
                );
            }
            (Special::SchemaOrList, Value::Array(items)) => {
                let item = Box::new(Type::Struct(SCHEMA.to_owned()));
                let name = "[]v1.JSONSchemaProps".to_owned();
                return self.apart(Value::Array(items), &Type::List { name, item });
            }
            (_, value @ Value::Object(_)) => return self.apart(value, &Type::Struct(SCHEMA.to_owned())),
            (Special::SchemaOrBool, _) => Err(Wrong::Said("boolean or JSON schema expected".to_owned())),
            _ => Ok(Value::Null),
        };
        read.map_err(|wrong| Stop(self.in_context(wrong.into())))
    }

    /// Reads what reads itself: unknown fields in it are not noticed, and errors stop everything.
    fn apart(&self, value: Value, of: &Type) -> Result<Value, Stop> {
        let mut inner = Self::default();
        let read = inner.value(value, of).map_err(|Stop(failure)| Stop(self.in_context(failure)))?;
        match inner.wrong {
            Some(failure) => Err(Stop(self.in_context(failure))),
            None => Ok(read),
        }
    }

    fn at_field<T>(
        &mut self,
        name: &'static str,
        field: &'static Field,
        holder: Option<&'static str>,
        visit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (length, depth) = (self.path.len(), self.fields.len());
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        self.fields.extend(field.embedded.iter().map(String::as_str));
        self.fields.push(name);
        let around = std::mem::replace(&mut self.holder, holder);
        let result = visit(self);
        self.holder = around;
        self.fields.truncate(depth);
        self.path.truncate(length);
        result
    }

    /// The same failure, of something in the field that is being read.
    fn in_context(&self, failure: Failure) -> Failure {
        if self.converts {
            return failure;
        }
        let fields = self.fields.iter().copied().chain(failure.fields).collect();
        Failure { holder: self.holder.or(failure.holder), fields, ..failure }
    }
}

/// Why an object cannot be read, and where.
struct Failure {
    wrong: Wrong,
    holder: Option<&'static str>,
    fields: Vec<&'static str>,
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self { wrong, holder: None, fields: Vec::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.wrong, &self.holder) {
            (Wrong::Said(error), _) => f.write_str(error),
            (Wrong::Type { value, wanted }, Some(holder)) => {
                let fields = self.fields.join(".");
                write!(
                    f,
                    "json: cannot unmarshal {value} into Go struct field {holder}.{fields} of type {wanted}"
                )
            }
            (Wrong::Type { value, wanted }, None) => {
                write!(f, "json: cannot unmarshal {value} into Go value of type {wanted}")
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
