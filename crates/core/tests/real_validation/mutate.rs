//! Random changes of a manifest along its schema, with a liking for bounds.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value, json};

use crate::chance::Chance;

/// Texts that are right in some places and wrong in others.
#[rustfmt::skip] // a list to be read as one
const TEXTS: &[&str] = &[
    "", "a", "A", "0", "a-b", "-a", "a-", "a.b", "a..b", "a_b", "a b", "a/b", "/a", "/dev/sdb", "../a",
    "main", "data", "data", "muster-x", "muster-x", "MUSTER_X", "MUSTER_X", "host:1", "[::1]:1",
    "host:123456", "b", "é", "data-orders-a-0", "orders",
];

/// Quantities and what only looks like one.
#[rustfmt::skip] // a list to be read as one
const QUANTITIES: &[&str] = &[
    "0", "1", "10Gi", "9Gi", "11Gi", "2Gi", "20Gi", "10737418240", "1e3", "1E3", "1E", "1e-3", "1e10",
    "1e100", "-1", "+1", ".5", "5.", ".", "0.1n", "1n", "100m", "abc", "", "1Zi", "10 Gi", "0Gi",
    "99999999999999999999999999999999",
];

/// Keys for maps of strings.
#[rustfmt::skip] // a list to be read as one
const KEYS: &[&str] = &[
    "main", "shipper", "ok", "A.b-c_d", "-x", ".x", "", "max connections",
];

/// Changes manifests of one kind.
pub(crate) struct Mutator {
    schema: JSONSchemaProps,
}

impl Mutator {
    pub(crate) fn of(kind: &str) -> Self {
        let crd = muster_api::crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
        let schema = crd.spec.versions[0].schema.clone().unwrap().open_api_v3_schema.unwrap();
        Self { schema: schema.properties.unwrap().remove("spec").unwrap() }
    }

    /// Makes one change somewhere in the spec.
    pub(crate) fn change(&self, object: &mut Value, chance: &mut Chance) {
        let mut places = Vec::new();
        places_in(&self.schema, &object["spec"], "/spec", &mut places);
        let (pointer, schema) = &places[chance.below(places.len())];
        let value = object.pointer_mut(pointer).unwrap();
        alter(schema, value, chance);
    }
}

/// Every value of the manifest that the schema knows, with its schema.
fn places_in<'a>(
    schema: &'a JSONSchemaProps,
    value: &Value,
    at: &str,
    places: &mut Vec<(String, &'a JSONSchemaProps)>,
) {
    places.push((at.to_owned(), schema));
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if let Some(inner_schema) = field_schema(schema, name) {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    places_in(inner_schema, inner, &format!("{at}/{name}"), places);
                }
            }
        }
        Value::Array(items) => {
            if let Some(JSONSchemaPropsOrArray::Schema(inner_schema)) = &schema.items {
                for (index, inner) in items.iter().enumerate() {
                    places_in(inner_schema, inner, &format!("{at}/{index}"), places);
                }
            }
        }
        _ => {}
    }
}

fn field_schema<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    let known = schema.properties.as_ref().and_then(|properties| properties.get(name));
    known.or(match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(inner)) => Some(inner),
        _ => None,
    })
}

fn alter(schema: &JSONSchemaProps, value: &mut Value, chance: &mut Chance) {
    if chance.one_in(40) {
        *value =
            [Value::Null, json!(7), json!("text"), json!([]), json!({}), json!(true), json!(2.5), json!(-1)]
                [chance.below(8)]
            .clone();
        return;
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        *value = match chance.below(5) {
            0 => json!([0, 1, 5, -5, 512, 513][chance.below(6)]),
            1 => json!("Majority"),
            _ => json!(chance.pick(QUANTITIES)),
        };
        return;
    }
    match value {
        Value::Object(fields) => alter_object(schema, fields, chance),
        Value::Array(items) => alter_list(schema, items, chance),
        Value::String(text) => *text = another_text(schema, text, chance),
        Value::Number(_) => *value = another_number(schema, chance),
        Value::Bool(flag) => *flag = !*flag,
        Value::Null => {}
    }
}

#[allow(clippy::cast_possible_truncation)] // bounds are whole and small
fn another_number(schema: &JSONSchemaProps, chance: &mut Chance) -> Value {
    let (least, most) = (schema.minimum.unwrap_or(0.0) as i64, schema.maximum.unwrap_or(1e6) as i64);
    json!([least, least - 1, least + 1, most, most + 1, 1, 2, 0][chance.below(8)])
}

fn another_text(schema: &JSONSchemaProps, text: &str, chance: &mut Chance) -> String {
    if let Some(allowed) = &schema.enum_ {
        let words: Vec<&str> = allowed.iter().filter_map(|word| word.0.as_str()).collect();
        return if chance.one_in(4) { "Other".to_owned() } else { chance.pick(&words).to_owned() };
    }
    let most = usize::try_from(schema.max_length.unwrap_or(64)).unwrap();
    match chance.below(6) {
        0 => "x".repeat(most),
        1 => "x".repeat(most + 1),
        2 => format!("{text}x"),
        _ => chance.pick(TEXTS).to_owned(),
    }
}

fn alter_list(schema: &JSONSchemaProps, items: &mut Vec<Value>, chance: &mut Chance) {
    let Some(JSONSchemaPropsOrArray::Schema(inner)) = &schema.items else { return };
    let key = schema.x_kubernetes_list_map_keys.as_ref().and_then(|keys| keys.first());
    let index = chance.below(items.len());
    match chance.below(7) {
        0 => items.clear(),
        1 | 2 if !items.is_empty() => drop(items.remove(index)),
        3 if !items.is_empty() => items.push(items[index].clone()),
        4 if items.len() > 1 => items.swap(0, index),
        5 if !items.is_empty() && key.is_some() => {
            // As many as fit, or one more, all with keys of their own.
            let most = usize::try_from(schema.max_items.unwrap_or(8)).unwrap() + chance.below(2);
            while items.len() < most {
                let mut item = items[index].clone();
                item[key.unwrap()] = json!(format!("k{}", items.len()));
                items.push(item);
            }
        }
        _ => {
            let mut item = smallest(inner);
            if let Some(key) = key
                && item[key].is_string()
            {
                item[key] = json!(["added", "main", "k1"][chance.below(3)]);
            }
            items.push(item);
        }
    }
}

fn alter_object(schema: &JSONSchemaProps, fields: &mut Map<String, Value>, chance: &mut Chance) {
    let present: Vec<String> = fields.keys().cloned().collect();
    if let Some(JSONSchemaPropsOrBool::Schema(inner)) = &schema.additional_properties {
        let key = if chance.one_in(4) {
            "k".repeat([63, 64, 253, 254][chance.below(4)])
        } else {
            chance.pick(KEYS).to_owned()
        };
        match chance.below(3) {
            0 if !present.is_empty() => drop(fields.remove(&present[chance.below(present.len())])),
            _ => drop(fields.insert(key, smallest(inner))),
        }
        return;
    }
    let properties = schema.properties.as_ref().into_iter().flatten();
    let absent: Vec<_> = properties.filter(|(name, _)| !fields.contains_key(*name)).collect();
    match chance.below(5) {
        0 if !present.is_empty() => drop(fields.remove(&present[chance.below(present.len())])),
        1 if !present.is_empty() && chance.one_in(3) => {
            fields.insert(present[chance.below(present.len())].clone(), Value::Null);
        }
        _ if !absent.is_empty() => {
            let (name, inner) = absent[chance.below(absent.len())];
            fields.insert(name.clone(), smallest(inner));
        }
        _ => {}
    }
}

/// A small value that the schema admits, rules apart.
fn smallest(schema: &JSONSchemaProps) -> Value {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return json!("10Gi");
    }
    if let Some(first) = schema.enum_.as_ref().and_then(|allowed| allowed.first()) {
        return first.0.clone();
    }
    match schema.type_.as_deref() {
        Some("object") => {
            let required = schema.required.iter().flatten();
            let fields =
                required.map(|name| (name.clone(), smallest(&schema.properties.as_ref().unwrap()[name])));
            Value::Object(fields.collect())
        }
        Some("array") => {
            let Some(JSONSchemaPropsOrArray::Schema(inner)) = &schema.items else { return json!([]) };
            let number = usize::try_from(schema.min_items.unwrap_or(0)).unwrap();
            Value::Array(vec![smallest(inner); number])
        }
        #[allow(clippy::cast_possible_truncation)] // bounds are whole and small
        Some("integer") => json!(schema.minimum.unwrap_or(1.0) as i64),
        Some("boolean") => json!(true),
        _ => json!(if schema.pattern.as_ref().is_some_and(|p| p.starts_with("^/")) { "/a" } else { "a" }),
    }
}
