//! The schemas that a description has: those of the kinds that are served, and all that these refer to.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::kind::built_in::{PLACE, definition, definitions, with_references};
use crate::registry::Resource;

const KINDS: &str = "x-kubernetes-group-version-kind";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
/// What operations refer to.
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// How deep a schema may go; the server refuses CRDs long before.
const MAX_DEPTH: usize = 128;

/// The name of the schema of a resource's kind.
pub(super) fn name(resource: &Resource) -> String {
    name_of(resource, &resource.kind_name)
}

/// The name of the schema of its lists.
pub(super) fn list_name(resource: &Resource) -> String {
    name_of(resource, &resource.list_kind)
}

fn name_of(resource: &Resource, kind: &str) -> String {
    let known = (resource.group.clone(), resource.version.clone(), kind.to_owned());
    match by_kind().get(&known) {
        Some(name) if !resource.kind.is_custom() => name.clone(),
        _ => {
            let parts: Vec<&str> = resource.group.rsplit('.').collect();
            format!("{}.{}.{kind}", parts.join("."), resource.version)
        }
    }
}

/// The names of definitions by group, version and kind.
fn by_kind() -> &'static BTreeMap<(String, String, String), String> {
    static ALL: LazyLock<BTreeMap<(String, String, String), String>> = LazyLock::new(|| {
        let kinds = definitions().into_iter().filter_map(|(name, schema)| {
            let kind = schema.get(KINDS)?.get(0)?;
            let text = |field: &str| kind.get(field).and_then(Value::as_str).map(str::to_owned);
            Some(((text("group")?, text("version")?, text("kind")?), name))
        });
        kinds.collect()
    });
    &ALL
}

/// The schemas of these resources and of what they refer to.
pub(super) fn of(resources: &[&Resource]) -> Map<String, Value> {
    let mut names = vec![STATUS.to_owned(), PATCH.to_owned(), DELETE_OPTIONS.to_owned()];
    let mut custom = Map::new();
    for resource in resources {
        if resource.scale.is_some() {
            names.push(SCALE.to_owned());
        }
        if resource.kind.is_custom() {
            names.extend([OBJECT_META.to_owned(), LIST_META.to_owned()]);
            custom.insert(name(resource), custom_schema(resource));
            custom.insert(list_name(resource), custom_list(resource));
        } else {
            names.extend([name(resource), list_name(resource)]);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = with_references(&names);
    all.extend(custom);
    all
}

fn kinds(resource: &Resource, kind: &str) -> Value {
    json!([{"group": resource.group, "version": resource.version, "kind": kind}])
}

fn custom_schema(resource: &Resource) -> Value {
    let mut schema = Value::clone(&resource.schema);
    if !schema.is_object() {
        schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    complete_embedded(&mut schema, 0);
    let fields = type_fields();
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["apiVersion"] = fields["apiVersion"].clone();
    schema["properties"]["kind"] = fields["kind"].clone();
    schema["properties"]["metadata"] = metadata();
    schema[KINDS] = kinds(resource, &resource.kind_name);
    schema
}

fn custom_list(resource: &Resource) -> Value {
    let fields = type_fields();
    json!({
        "description": format!("{} is a list of {}", resource.list_kind, resource.kind_name),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": fields["apiVersion"],
            "kind": fields["kind"],
            "items": {
                "description": format!("List of {}. More info: {CONVENTIONS}", resource.plural),
                "type": "array",
                "items": {"$ref": format!("{PLACE}{}", name(resource))},
            },
            "metadata": {
                "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
                "allOf": [{"$ref": format!("{PLACE}{LIST_META}")}],
            },
        },
        KINDS: kinds(resource, &resource.list_kind),
    })
}

/// What `apiVersion` and `kind` are, in the words of any definition.
fn type_fields() -> &'static Value {
    static FIELDS: LazyLock<Value> = LazyLock::new(|| {
        definition("io.k8s.api.core.v1.ConfigMap")
            .map_or(Value::Null, |mut schema| schema["properties"].take())
    });
    &FIELDS
}

fn metadata() -> Value {
    json!({
        "description": format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"),
        "allOf": [{"$ref": format!("{PLACE}{OBJECT_META}")}],
    })
}

/// Objects inside of objects have what every object has.
fn complete_embedded(schema: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(|property| complete_embedded(property, depth + 1));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key).filter(|inner| inner.is_object()) {
            complete_embedded(inner, depth + 1);
        }
    }
    if depth == 0 || schema.get("x-kubernetes-embedded-resource") != Some(&Value::Bool(true)) {
        return;
    }
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    let text = |words: &str, section: &str| json!({"description": format!("{words} More info: {CONVENTIONS}#{section}"), "type": "string"});
    let version = "apiVersion defines the versioned schema of this representation of an object.";
    schema["properties"]["apiVersion"] = text(version, "resources");
    let kind = "kind is a string value representing the type of this object. In CamelCase.";
    schema["properties"]["kind"] = text(kind, "types-kinds");
    schema["properties"]["metadata"] = metadata();
    let mut required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    required.extend(
        ["kind", "apiVersion"]
            .map(Value::from)
            .into_iter()
            .filter(|name| !required.contains(name))
            .collect::<Vec<_>>(),
    );
    schema["required"] = Value::Array(required);
}
