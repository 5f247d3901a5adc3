//! Types out of schemas: a CRD's `openAPIV3Schema`, or the definitions that a server publishes for built-in kinds.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::metadata::{OBJECT_META, object_meta};
use super::{Field, Items, ListType, MapType, Scalar, SchemaError, Type, TypeRef, Typing};

/// Definitions with schemas of their own that hide what they hold.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// How deep a schema may go; the server refuses CRDs long before.
const MAX_DEPTH: usize = 128;

impl Typing {
    /// The types of a custom resource, from the `openAPIV3Schema` of one of its versions.
    pub fn of_custom_resource(schema: &Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError("the schema is not an object".into()));
        }
        let mut schema = schema.clone();
        add_object_fields(&mut schema);
        add_embedded(&mut schema, 0)?;
        let reader = Reader { open: false, depth: 0 };
        let root = TypeRef::Inline(Box::new(reader.read(&schema)?));
        let metadata = reader.read(&object_meta())?;
        Ok(Self { root, named: BTreeMap::from([(OBJECT_META.into(), metadata)]) })
    }

    /// The types of a built-in kind: one of the definitions, which may refer to each other (`$ref`).
    pub fn of_definition(name: &str, definitions: &Map<String, Value>) -> Result<Self, SchemaError> {
        let reader = Reader { open: false, depth: 0 };
        let mut named = BTreeMap::new();
        for (name, schema) in definitions {
            let of = match name.as_str() {
                QUANTITY => Type { scalar: Some(Scalar::Any), ..Type::default() },
                RAW_EXTENSION => Type {
                    scalar: Some(Scalar::Any),
                    list: Some(ListType { items: Items::Whole, element: TypeRef::Whole }),
                    map: Some(MapType {
                        fields: BTreeMap::new(),
                        others: Some(TypeRef::Whole),
                        atomic: true,
                    }),
                },
                _ if reference(schema).is_some() => continue,
                _ => reader.read(schema)?,
            };
            named.insert(name.clone(), of);
        }
        if !named.contains_key(name) {
            return Err(SchemaError(format!("no definition {name}")));
        }
        Ok(Self { root: TypeRef::Named { name: name.into(), atomic: None }, named })
    }
}

/// Adds what every object has to a schema, over whatever the schema says of it.
fn add_object_fields(schema: &mut Value) {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["apiVersion"] = json!({"type": "string"});
    schema["properties"]["kind"] = json!({"type": "string"});
    schema["properties"]["metadata"] = json!({"$ref": format!("#/components/schemas/{OBJECT_META}")});
}

fn add_embedded(schema: &mut Value, depth: usize) -> Result<(), SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError("the schema is too deep".into()));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut() {
            add_embedded(property, depth + 1)?;
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = schema.get_mut(key).filter(|child| child.is_object()) {
            add_embedded(child, depth + 1)?;
        }
    }
    if schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
        add_object_fields(schema);
    }
    Ok(())
}

/// The name of the definition that a schema refers to, directly or as the only part of `allOf`.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    let text = schema.get("$ref").and_then(Value::as_str).or_else(|| {
        match schema.get("allOf")?.as_array()?.as_slice() {
            [only] => only.get("$ref")?.as_str(),
            _ => None,
        }
    })?;
    text.rsplit('/').next()
}

#[derive(Clone, Copy)]
struct Reader {
    /// Whether this schema or one around it preserves unknown fields.
    open: bool,
    depth: usize,
}

impl Reader {
    fn refer(self, schema: &Value) -> Result<TypeRef, SchemaError> {
        if let Some(name) = reference(schema) {
            return Ok(TypeRef::Named { name: name.into(), atomic: map_is_atomic(schema)? });
        }
        Ok(TypeRef::Inline(Box::new(self.read(schema)?)))
    }

    fn read(mut self, schema: &Value) -> Result<Type, SchemaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SchemaError("the schema is too deep".into()));
        }
        self.open |= schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let scalar = |scalar| Ok(Type { scalar: Some(scalar), ..Type::default() });
        match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
            "" => Ok(Type {
                scalar: Some(Scalar::Any),
                list: Some(self.list(schema)?),
                map: Some(self.map(schema)?),
            }),
            "object" => Ok(Type { map: Some(self.map(schema)?), ..Type::default() }),
            "array" => Ok(Type { list: Some(self.list(schema)?), ..Type::default() }),
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" if matches!(format, "" | "byte") => scalar(Scalar::Text),
            "string" => scalar(Scalar::Any),
            other => Err(SchemaError(format!("unrecognized type: '{other}'"))),
        }
    }

    fn map(self, schema: &Value) -> Result<MapType, SchemaError> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let mut fields = BTreeMap::new();
        for (name, property) in properties {
            let default = property.get("default").filter(|default| !default.is_null()).cloned();
            fields.insert(name.clone(), Field { of: self.refer(property)?, default });
        }
        let others = match schema.get("additionalProperties") {
            None if self.open || properties.is_empty() => Some(TypeRef::Deduced),
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(TypeRef::Deduced),
            Some(of) => Some(self.refer(of)?),
        };
        Ok(MapType { fields, others, atomic: map_is_atomic(schema)? == Some(true) })
    }

    fn list(self, schema: &Value) -> Result<ListType, SchemaError> {
        let element = match schema.get("items") {
            Some(items) => self.refer(items)?,
            None => TypeRef::Whole,
        };
        Ok(ListType { items: items(schema)?, element })
    }
}

fn map_is_atomic(schema: &Value) -> Result<Option<bool>, SchemaError> {
    match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
        None => Ok(None),
        Some("atomic") => Ok(Some(true)),
        Some("granular") => Ok(Some(false)),
        Some(other) => Err(SchemaError(format!("unknown map type {other}"))),
    }
}

/// How a list's items are told apart: by its list type, or where there is none by how it is patched.
fn items(schema: &Value) -> Result<Items, SchemaError> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    match (text("x-kubernetes-list-type"), text("x-kubernetes-patch-strategy")) {
        (Some("atomic"), _) | (None, None | Some("retainKeys" | "replace")) => Ok(Items::Whole),
        (Some("set"), _) => Ok(Items::Set),
        (Some("map"), _) => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            let keys = keys.ok_or_else(|| SchemaError("missing map keys".into()))?;
            Ok(Items::Keyed(keys.iter().filter_map(|key| key.as_str().map(String::from)).collect()))
        }
        (Some(other), _) => Err(SchemaError(format!("unknown list type {other}"))),
        (None, Some("merge" | "merge,retainKeys")) => Ok(match text("x-kubernetes-patch-merge-key") {
            Some(key) => Items::Keyed(vec![key.into()]),
            None => Items::Set,
        }),
        (None, Some(other)) => Err(SchemaError(format!("unknown patch strategy {other}"))),
    }
}
