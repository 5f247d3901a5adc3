//! The definitions of the built-in kinds, as the API description has them (version 3): what k8s-openapi says, and over
//! it what a real server says besides (`cargo xtask definitions`).

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::texts::{LazyTexts, Texts};
use crate::apply::{merge_patch, reference};

/// Where definitions are found in an API description of version 3.
pub const PLACE: &str = "#/components/schemas/";

/// How a real server's definitions differ from those of k8s-openapi, as merge patches by name.
const DIFFERENCES: &str = include_str!("data/definitions.json");

static ALL: LazyTexts = LazyTexts::new(|| Texts::lazily(make));

/// Every definition by its name, such as `io.k8s.api.core.v1.Pod`; made anew, and large.
pub fn definitions() -> Map<String, Value> {
    ALL.all()
}

/// The definition of this name.
pub fn definition(name: &str) -> Option<Value> {
    ALL.get(name)
}

fn make() -> Map<String, Value> {
    let differences: Value = serde_json::from_str(DIFFERENCES).unwrap_or_default();
    match merge_patch(&Value::Object(plain()), &differences) {
        Ok(Value::Object(all)) => all.into_iter().map(|(name, schema)| (name, wrapped(schema))).collect(),
        _ => Map::new(),
    }
}

/// A definition and all that it refers to, directly or not.
pub fn with_references(names: &[&str]) -> Map<String, Value> {
    let mut found = Map::new();
    let mut open: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = open.pop() {
        if found.contains_key(&name) {
            continue;
        }
        if let Some(schema) = definition(&name) {
            references(&schema, &mut open);
            found.insert(name, schema);
        }
    }
    found
}

fn references(schema: &Value, into: &mut Vec<String>) {
    if let Some(name) = reference(schema) {
        into.push(name.to_owned());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let inside = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    for part in properties.into_iter().flat_map(Map::values).chain(inside) {
        references(part, into);
    }
}

/// The differences of a real server's definitions from those of k8s-openapi, what is said in words apart: what
/// `data/definitions.json` must be.
pub fn differences(real: &Map<String, Value>) -> Map<String, Value> {
    let plain = plain();
    let mut found = Map::new();
    for (name, schema) in real {
        let Some(known) = plain.get(name) else { continue };
        let patch = difference(&comparable(known.clone()), &comparable(schema.clone()));
        found.extend(patch.map(|patch| (name.clone(), patch)));
    }
    found
}

/// Without what need not be equal: what is said in words, but for the meaning of the values that a field can have, and
/// which groups know a type that all of them know.
fn comparable(schema: Value) -> Value {
    let everywhere_the_same = |kinds: &Value| kinds.as_array().is_some_and(|kinds| kinds.len() > 1);
    everywhere(unwrapped(schema), &|fields| {
        if !fields.contains_key("enum") && fields.get("description").is_some_and(Value::is_string) {
            fields.remove("description");
        }
        if fields.get("x-kubernetes-group-version-kind").is_some_and(everywhere_the_same) {
            fields.remove("x-kubernetes-group-version-kind");
        }
    })
}

/// The merge patch that makes one value of another; none if they are equal.
fn difference(from: &Value, to: &Value) -> Option<Value> {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let gone = from.keys().filter(|key| !to.contains_key(*key));
            let mut patch: Map<String, Value> = gone.map(|key| (key.clone(), Value::Null)).collect();
            for (key, value) in to {
                let change =
                    from.get(key).map_or_else(|| Some(value.clone()), |from| difference(from, value));
                patch.extend(change.map(|change| (key.clone(), change)));
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        _ => (from != to).then(|| to.clone()),
    }
}

/// A reference with something beside it stands in `allOf`, as version 3 of the description wants it.
fn wrapped(schema: Value) -> Value {
    everywhere(schema, &|fields| {
        if fields.len() > 1
            && let Some(target) = fields.remove("$ref")
        {
            fields.insert("allOf".to_owned(), json!([{"$ref": target}]));
        }
    })
}

/// The other way round; and what is required in the order of names.
fn unwrapped(schema: Value) -> Value {
    everywhere(schema, &|fields| {
        if let Some(Value::Array(required)) = fields.get_mut("required") {
            required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        let one = match fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([one]) => one.get("$ref").cloned(),
            _ => None,
        };
        if let Some(target) = one {
            fields.remove("allOf");
            fields.insert("$ref".to_owned(), target);
        }
    })
}

fn everywhere(mut schema: Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    if let Value::Object(fields) = &mut schema {
        change(fields);
        for key in ["items", "additionalProperties"] {
            if let Some(part) = fields.get_mut(key) {
                *part = everywhere(part.take(), change);
            }
        }
        if let Some(Value::Object(properties)) = fields.get_mut("properties") {
            for part in properties.values_mut() {
                *part = everywhere(part.take(), change);
            }
        }
    }
    schema
}

/// What k8s-openapi says, and a list for every kind.
fn plain() -> Map<String, Value> {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = SchemaGenerator::new(settings);
    super::roots::refer(&mut generator);
    let all = generator.take_definitions(true).into_iter();
    let mut all: Map<String, Value> = all.map(|(name, schema)| (name, unwrapped(schema))).collect();
    let lists: Vec<(String, Value)> = all
        .iter()
        .filter(|(_, schema)| schema.pointer("/properties/metadata/$ref").is_some_and(is_object_meta))
        .filter(|(_, schema)| schema.pointer("/properties/kind").is_some())
        .map(|(name, schema)| (format!("{name}List"), list_of(name, schema)))
        .collect();
    all.extend(lists);
    all
}

fn is_object_meta(target: &Value) -> bool {
    target.as_str().is_some_and(|target| target.ends_with(".ObjectMeta"))
}

fn list_of(name: &str, item: &Value) -> Value {
    let kind = name.rsplit('.').next().unwrap_or_default();
    json!({
        "description": format!("{kind}List is a list of {kind} objects."),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": item["properties"]["apiVersion"],
            "kind": item["properties"]["kind"],
            "items": {
                "description": "Items is the list of objects.",
                "type": "array",
                "items": {"$ref": format!("{PLACE}{name}"), "default": {}},
            },
            "metadata": {
                "description": "Standard list metadata.",
                "$ref": format!("{PLACE}io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"),
                "default": {},
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_comes_with_what_it_refers_to() {
        let pods = with_references(&["io.k8s.api.core.v1.PodList"]);
        assert!(
            pods.contains_key("io.k8s.api.core.v1.Container") && pods.contains_key("io.k8s.api.core.v1.Pod")
        );
        assert!(!pods.contains_key("io.k8s.api.apps.v1.Deployment"));
    }

    #[test]
    fn what_k8s_openapi_lacks_is_there() {
        let all = definitions();
        let spec = &all["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
        assert_eq!(spec["x-kubernetes-list-map-keys"], json!(["name"]));
        assert_eq!(spec["x-kubernetes-patch-merge-key"], "name");
        assert!(spec["description"].as_str().is_some_and(|text| text.contains("List of containers")));
        let metadata = &all["io.k8s.api.core.v1.Pod"]["properties"]["metadata"];
        assert_eq!(metadata["default"], json!({}));
        assert_eq!(
            metadata["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
        );
    }

    #[test]
    fn a_difference_is_the_patch_between_two() {
        let (from, to) = (json!({"a": 1, "b": {"c": 1}, "d": 1}), json!({"b": {"c": 2}, "d": 1, "e": []}));
        let patch = difference(&from, &to).unwrap();
        assert_eq!(patch, json!({"a": null, "b": {"c": 2}, "e": []}));
        assert_eq!(merge_patch(&from, &patch), Ok(to.clone()));
        assert_eq!(difference(&to, &to), None);
    }
}
