//! Versions and schemas in the words of the server's own types, as it shows them in errors.

use serde_json::Value;

use super::super::fields::{list, something};
use super::internal::{Version, given};
use crate::schema::go_json;

/// A version in the words of the server's own type.
pub(super) fn show_version(version: &Version<'_>) -> String {
    let subresources = version.own.subresources.map(|subresources| {
        let status = given(subresources, "status").map(|_| "{}".to_owned());
        let scale = given(subresources, "scale").map(|scale| {
            fields(&[
                ("SpecReplicasPath", quoted(scale, "specReplicasPath")),
                ("StatusReplicasPath", quoted(scale, "statusReplicasPath")),
                ("LabelSelectorPath", json_or_null(scale.get("labelSelectorPath"))),
            ])
        });
        fields(&[("Status", or_null(status)), ("Scale", or_null(scale))])
    });
    let schema = version.own.schema.map(|schema| {
        fields(&[("OpenAPIV3Schema", or_null(given(schema, "openAPIV3Schema").map(show_schema)))])
    });
    let columns = version.own.columns.iter().map(show_column);
    let selectable = version.own.selectable.iter();
    let selectable = selectable.map(|field| fields(&[("JSONPath", quoted(field, "jsonPath"))]));
    fields(&[
        ("Name", quoted(version.whole, "name")),
        ("Served", flag(version.whole, "served")),
        ("Storage", flag(version.whole, "storage")),
        ("Deprecated", flag(version.whole, "deprecated")),
        ("DeprecationWarning", json_or_null(version.whole.get("deprecationWarning"))),
        ("Schema", or_null(schema)),
        ("Subresources", or_null(subresources)),
        ("AdditionalPrinterColumns", items_or_null(columns)),
        ("SelectableFields", items_or_null(selectable)),
    ])
}
fn show_column(column: &Value) -> String {
    let priority = column.get("priority").and_then(Value::as_i64).unwrap_or_default();
    fields(&[
        ("Name", quoted(column, "name")),
        ("Type", quoted(column, "type")),
        ("Format", quoted(column, "format")),
        ("Description", quoted(column, "description")),
        ("Priority", priority.to_string()),
        ("JSONPath", quoted(column, "jsonPath")),
    ])
}

/// A schema in the words of the server's own type.
pub(super) fn show_schema(schema: &Value) -> String {
    let text = |name: &str| quoted(schema, name);
    let value = |name: &str| json_or_null(schema.get(name));
    let one = |name: &str| or_null(given(schema, name).map(show_schema));
    let many = |name: &str| items_or_null(list(schema, &format!("/{name}")).iter().map(show_schema));
    let named = |name: &str| or_null(given(schema, name).map(show_map));
    let or_bool = |name: &str| or_null(given(schema, name).map(show_schema_or_bool));
    let docs = given(schema, "externalDocs")
        .map(|docs| fields(&[("Description", quoted(docs, "description")), ("URL", quoted(docs, "url"))]));
    let items = given(schema, "items").map(|items| match items {
        Value::Array(all) => {
            let all = all.iter().map(show_schema);
            fields(&[("Schema", "null".to_owned()), ("JSONSchemas", items_or_null(all))])
        }
        one => fields(&[("Schema", show_schema(one)), ("JSONSchemas", "null".to_owned())]),
    });
    fields(&[
        ("ID", text("id")),
        ("Schema", text("$schema")),
        ("Ref", value("$ref")),
        ("Description", text("description")),
        ("Type", text("type")),
        ("Nullable", flag(schema, "nullable")),
        ("Format", text("format")),
        ("Title", text("title")),
        ("Default", value("default")),
        ("Maximum", value("maximum")),
        ("ExclusiveMaximum", flag(schema, "exclusiveMaximum")),
        ("Minimum", value("minimum")),
        ("ExclusiveMinimum", flag(schema, "exclusiveMinimum")),
        ("MaxLength", value("maxLength")),
        ("MinLength", value("minLength")),
        ("Pattern", text("pattern")),
        ("MaxItems", value("maxItems")),
        ("MinItems", value("minItems")),
        ("UniqueItems", flag(schema, "uniqueItems")),
        ("MultipleOf", value("multipleOf")),
        ("Enum", value("enum")),
        ("MaxProperties", value("maxProperties")),
        ("MinProperties", value("minProperties")),
        ("Required", json_or_null(something(schema.get("required")))),
        ("Items", or_null(items)),
        ("AllOf", many("allOf")),
        ("OneOf", many("oneOf")),
        ("AnyOf", many("anyOf")),
        ("Not", one("not")),
        ("Properties", named("properties")),
        ("AdditionalProperties", or_bool("additionalProperties")),
        ("PatternProperties", named("patternProperties")),
        ("Dependencies", "null".to_owned()),
        ("AdditionalItems", or_bool("additionalItems")),
        ("Definitions", named("definitions")),
        ("ExternalDocs", or_null(docs)),
        ("Example", value("example")),
        ("XPreserveUnknownFields", value("x-kubernetes-preserve-unknown-fields")),
        ("XEmbeddedResource", flag(schema, "x-kubernetes-embedded-resource")),
        ("XIntOrString", flag(schema, "x-kubernetes-int-or-string")),
        ("XListMapKeys", json_or_null(something(schema.get("x-kubernetes-list-map-keys")))),
        ("XListType", value("x-kubernetes-list-type")),
        ("XMapType", value("x-kubernetes-map-type")),
        ("XValidations", items_or_null(list(schema, "/x-kubernetes-validations").iter().map(show_rule))),
    ])
}

fn show_rule(rule: &Value) -> String {
    fields(&[
        ("Rule", quoted(rule, "rule")),
        ("Message", quoted(rule, "message")),
        ("MessageExpression", quoted(rule, "messageExpression")),
        ("Reason", json_or_null(rule.get("reason"))),
        ("FieldPath", quoted(rule, "fieldPath")),
        ("OptionalOldSelf", json_or_null(rule.get("optionalOldSelf"))),
    ])
}

fn show_schema_or_bool(value: &Value) -> String {
    let (allows, schema) = match value {
        Value::Bool(allows) => (*allows, "null".to_owned()),
        schema => (true, show_schema(schema)),
    };
    fields(&[("Allows", allows.to_string()), ("Schema", schema)])
}

fn show_map(map: &Value) -> String {
    let entries = map.as_object().into_iter().flatten();
    let entries: Vec<String> = entries
        .map(|(name, schema)| format!("{}:{}", go_json(&name.as_str().into()), show_schema(schema)))
        .collect();
    format!("{{{}}}", entries.join(","))
}

fn fields(all: &[(&str, String)]) -> String {
    let all: Vec<String> = all.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", all.join(","))
}

fn quoted(value: &Value, field: &str) -> String {
    go_json(&value.get(field).and_then(Value::as_str).unwrap_or_default().into())
}

fn flag(value: &Value, field: &str) -> String {
    (value.get(field) == Some(&Value::Bool(true))).to_string()
}

fn json_or_null(value: Option<&Value>) -> String {
    value.map_or_else(|| "null".to_owned(), go_json)
}

fn or_null(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".to_owned())
}

fn items_or_null(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "null".to_owned() } else { format!("[{}]", items.join(",")) }
}
