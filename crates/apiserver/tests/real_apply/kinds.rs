//! The kinds that sequences run on, and what a server does to their objects besides ownership.

use muster_apiserver::apply::{MergeKeys, Typing, Typings, empty_object};
use serde_json::{Value, json};

/// A kind as both sides need it.
pub(crate) struct Kind {
    pub(crate) api_version: String,
    pub(crate) name: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    pub(crate) schema: Value,
    pub(crate) typings: Typings,
    pub(crate) merge_keys: MergeKeys,
    pub(crate) empty: Value,
}

impl Kind {
    /// The kind that a CRD defines, in each of its versions.
    pub(crate) fn of_crd(crd: &Value) -> Vec<Self> {
        let versions = crd["spec"]["versions"].as_array().unwrap();
        versions.iter().map(|version| Self::of_version(&crd["spec"], version)).collect()
    }

    fn of_version(spec: &Value, version: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let api_version = |version: &Value| format!("{}/{}", text(&spec["group"]), text(&version["name"]));
        let typing = |version: &Value| {
            let typing = Typing::of_custom_resource(&version["schema"]["openAPIV3Schema"]).unwrap();
            (api_version(version), typing)
        };
        Self {
            name: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            namespaced: spec["scope"] == "Namespaced",
            typings: spec["versions"].as_array().unwrap().iter().map(typing).collect(),
            api_version: api_version(version),
            schema: version["schema"]["openAPIV3Schema"].clone(),
            merge_keys: MergeKeys::default(),
            empty: json!({}),
        }
    }

    /// A built-in kind, from the definitions that the server publishes.
    pub(crate) fn of_definition(api_version: &str, name: &str, plural: &str, definitions: &Value) -> Self {
        let definitions = definitions.as_object().unwrap();
        let package = match api_version.split_once('/') {
            None => format!("core.{api_version}"),
            Some((group, version)) => format!("{group}.{version}"),
        };
        let definition = format!("io.k8s.api.{package}.{name}");
        let typing = Typing::of_definition(&definition, definitions).unwrap();
        Self {
            api_version: api_version.into(),
            name: name.into(),
            plural: plural.into(),
            namespaced: true,
            schema: Value::Null,
            typings: Typings::from([(api_version.to_owned(), typing)]),
            merge_keys: MergeKeys::of_definition(&definition, definitions),
            empty: empty_object(&definition, definitions),
        }
    }

    pub(crate) fn is_custom(&self) -> bool {
        !self.schema.is_null()
    }

    /// Drops what the schema does not know.
    pub(crate) fn prune(&self, object: &mut Value) {
        for part in ["spec", "status"] {
            if let Some(value) = object.get_mut(part) {
                drop_unknown(&self.schema["properties"][part], value);
            }
        }
    }

    /// Sets the defaults of the schema.
    pub(crate) fn default(&self, object: &mut Value) {
        set_defaults(&self.schema, object);
    }
}

fn drop_unknown(schema: &Value, value: &mut Value) {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    match value {
        Value::Object(fields) => {
            let properties = schema["properties"].as_object();
            let others = &schema["additionalProperties"];
            fields
                .retain(|name, _| properties.is_some_and(|all| all.contains_key(name)) || !others.is_null());
            for (name, value) in fields {
                drop_unknown(properties.and_then(|all| all.get(name)).unwrap_or(others), value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_unknown(&schema["items"], item)),
        _ => {}
    }
}

fn set_defaults(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let missing =
                    fields.get(name).is_none_or(|value| value.is_null() && property["nullable"] != true);
                if missing && !property["default"].is_null() {
                    fields.insert(name.clone(), property["default"].clone());
                }
            }
            for (name, value) in fields {
                match schema["properties"].get(name) {
                    Some(property) => set_defaults(property, value),
                    None => set_defaults(&schema["additionalProperties"], value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| set_defaults(&schema["items"], item)),
        _ => {}
    }
}

/// A CRD with every kind of list and map.
pub(crate) fn synthetic() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let pair = json!({"type": "object", "properties": {"a": text, "b": text}});
    let list =
        |kind: &str, items: &Value| json!({"type": "array", "x-kubernetes-list-type": kind, "items": items});
    let mut ports = list(
        "map",
        &json!({"type": "object", "required": ["port"], "properties": {
            "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": text, "labels": texts,
        }}),
    );
    ports["x-kubernetes-list-map-keys"] = json!(["port", "protocol"]);
    let mut members = list(
        "map",
        &json!({"type": "object", "required": ["name"], "properties": {
            "name": text, "value": text, "nested": pair, "tags": list("set", &text), "whole": list("atomic", &text),
        }}),
    );
    members["x-kubernetes-list-map-keys"] = json!(["name"]);
    let mut conditions = list(
        "map",
        &json!({"type": "object", "required": ["type"], "properties": {
            "type": text, "status": text,
        }}),
    );
    conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    let spec = json!({"type": "object", "properties": {
        "text": text, "count": {"type": "integer"}, "flag": {"type": "boolean"}, "fallback": {"type": "string", "default": "x"},
        "plain": {"type": "array", "items": text}, "pairs": list("atomic", &pair),
        "tags": list("set", &text), "numbers": list("set", &json!({"type": "integer"})),
        "ports": ports, "members": members,
        "texts": texts, "objects": {"type": "object", "additionalProperties": pair}, "pair": pair,
        "rgb": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"r": text, "g": text}},
        "granular": {"type": "object", "x-kubernetes-map-type": "granular", "additionalProperties": text},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "size": {"x-kubernetes-int-or-string": true},
    }});
    let status = json!({"type": "object", "properties": {"phase": text, "conditions": conditions}});
    let version = |name: &str, schema: &Value, stored: bool| {
        json!({
            "name": name, "served": true, "storage": stored, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema},
        })
    };
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    // The other version differs in what is one value.
    let mut other = schema.clone();
    other["properties"]["spec"]["properties"]["tags"]["x-kubernetes-list-type"] = json!("atomic");
    other["properties"]["spec"]["properties"]["pair"]["x-kubernetes-map-type"] = json!("atomic");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.apply.muster.dev"},
        "spec": {
            "group": "apply.muster.dev", "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [version("v1", &schema, true), version("v2", &other, false)],
        },
    })
}
