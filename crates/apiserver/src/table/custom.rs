//! Tables of custom resources: the columns that their definition declares.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age::since;
use super::column::{AGE_AS_DATE, NAME};
use super::jsonpath::{self, Path};
use super::{Print, Row};
use crate::registry::Column;
use crate::schema::go::truncated;

/// The printer of a custom resource.
pub struct Custom {
    definitions: Vec<Value>,
    columns: Vec<(Option<Path>, String)>,
}

impl Custom {
    /// A printer for these columns. When none are declared, there is the age.
    pub fn new(declared: &[Column]) -> Self {
        let mut definitions = vec![NAME.definition()];
        if declared.is_empty() {
            definitions.push(AGE_AS_DATE.definition());
            let age = Path::parse(".metadata.creationTimestamp");
            return Self { definitions, columns: vec![(age, "date".to_owned())] };
        }
        definitions.extend(declared.iter().map(definition));
        let columns =
            declared.iter().map(|column| (Path::parse(&column.path), column.kind.clone())).collect();
        Self { definitions, columns }
    }
}

impl Print for Custom {
    fn columns(&self) -> Cow<'_, [Value]> {
        Cow::Borrowed(&self.definitions)
    }

    fn row(&self, object: &Value, now: Timestamp) -> Row {
        let name = object.pointer("/metadata/name").cloned().unwrap_or_else(|| "".into());
        let others = self.columns.iter().map(|(path, kind)| {
            let found = path.as_ref().and_then(|path| path.first(object));
            found.map_or(Value::Null, |value| cell(value, kind, now))
        });
        std::iter::once(name).chain(others).collect::<Vec<Value>>().into()
    }
}

fn definition(column: &Column) -> Value {
    let description = if column.description.is_empty() {
        format!("Custom resource definition column (in JSONPath format): {}", column.path)
    } else {
        column.description.clone()
    };
    json!({
        "name": column.name,
        "type": column.kind,
        "format": column.format,
        "description": description,
        "priority": column.priority,
    })
}

/// A value as its column shows it; null where it is of another type.
fn cell(value: &Value, kind: &str, now: Timestamp) -> Value {
    match (kind, value) {
        ("string", value) => jsonpath::text(value).into(),
        ("integer", Value::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(truncated)).map_or(Value::Null, Value::from)
        }
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        // The word is read as no time at all.
        ("date", Value::String(text)) => since(if text == "null" { "" } else { text }, now).into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: &str, path: &str) -> Column {
        Column {
            name: "C".into(),
            kind: kind.into(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            path: path.into(),
        }
    }

    #[test]
    fn cells_follow_the_type_of_their_column() {
        let object = json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"n": 2.9, "on": true, "list": [1, "x"]},
            "status": {"conditions": [{"type": "A", "status": "False"}, {"type": "Ready", "status": "True"}]},
        });
        let now = "2026-01-01T00:00:05Z".parse().unwrap();
        let cells = |declared: &[Column]| Custom::new(declared).row(&object, now).cells;
        assert_eq!(cells(&[]), [json!("a"), json!("5s")]);
        let declared = [
            column("integer", ".spec.n"),
            column("number", ".spec.n"),
            column("boolean", ".spec.on"),
            column("string", ".spec.on"),
            column("string", ".spec.list"),
            column("integer", ".spec.on"),
            column("string", ".spec.none"),
            column("date", ".spec.none"),
            column("string", r#".status.conditions[?(@.type=="Ready")].status"#),
        ];
        let wanted = [
            json!("a"),
            json!(2),
            json!(2.9),
            json!(true),
            json!("true"),
            json!("[1,\"x\"]"),
            Value::Null,
            Value::Null,
            Value::Null,
            json!("True"),
        ];
        assert_eq!(cells(&declared), wanted);
    }
}
