//! The columns of a table, with their descriptions taken from the fields that they show.

use std::sync::LazyLock;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// What a column says of itself.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// These words.
    Words(&'static str),
    /// What all kinds say of this field of their metadata.
    Metadata(&'static str),
    /// What the type says of its field.
    Field(fn() -> Value, &'static str),
    /// The same up to these words: an older version of the type does not have them, and the column shows that.
    Before(fn() -> Value, &'static str, &'static str),
}

/// A column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    wide: bool,
    says: Says,
}

impl Column {
    pub(super) const fn text(name: &'static str, says: Says) -> Self {
        Self { name, kind: "string", format: "", wide: false, says }
    }

    pub(super) const fn integer(name: &'static str, says: Says) -> Self {
        Self { kind: "integer", ..Self::text(name, says) }
    }

    pub(super) const fn boolean(name: &'static str, says: Says) -> Self {
        Self { kind: "boolean", ..Self::text(name, says) }
    }

    /// A column that only wide tables show.
    pub(super) const fn wide(name: &'static str, says: Says) -> Self {
        Self { wide: true, ..Self::text(name, says) }
    }

    /// The same column, which only wide tables show.
    pub(super) const fn only_wide(self) -> Self {
        Self { wide: true, ..self }
    }

    pub(super) fn definition(&self) -> Value {
        let description = match self.says {
            Says::Words(words) => words.to_owned(),
            Says::Metadata(field) => description(&METADATA, field),
            Says::Field(schema, field) => description(&schema(), field),
            Says::Before(schema, field, end) => {
                let whole = description(&schema(), field);
                whole.split(end).next().unwrap_or_default().to_owned()
            }
        };
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": description,
            "priority": i32::from(self.wide),
        })
    }
}

/// The schema of a type, to take descriptions from.
pub(super) fn schema<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

fn description(schema: &Value, field: &str) -> String {
    let found = schema.pointer(&format!("/properties/{field}/description")).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

/// Kept, because every table needs it.
static METADATA: LazyLock<Value> = LazyLock::new(schema::<ObjectMeta>);

const CREATED_SAYS: Says = Says::Metadata("creationTimestamp");

pub(super) const NAME: Column = Column { format: "name", ..Column::text("Name", Says::Metadata("name")) };
pub(super) const AGE: Column = Column::text("Age", CREATED_SAYS);
pub(super) const AGE_AS_DATE: Column = Column { kind: "date", ..AGE };
pub(super) const CREATED_AT: Column = Column { kind: "date", ..Column::text("Created At", CREATED_SAYS) };
