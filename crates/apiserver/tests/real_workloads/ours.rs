//! The same writes, through what is particular to the kind.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use muster_apiserver::kind::built_in::catalogue::resources;
use muster_apiserver::kind::workloads::particular;
use muster_apiserver::kind::{Around, Particular};
use muster_apiserver::lifecycle::Part;
use muster_apiserver::registry::Resource;
use serde_json::{Value, json};

use crate::server::{Answer, Refusal};

/// What is on the real server besides the object.
#[derive(Debug, Default)]
pub(crate) struct World(pub(crate) BTreeMap<String, Vec<Arc<Value>>>);

impl Around for World {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let is_it = |object: &&Arc<Value>| {
            object["metadata"]["name"] == name
                && (namespace.is_empty() || object["metadata"]["namespace"] == namespace)
        };
        self.0.get(resource)?.iter().find(is_it).cloned()
    }

    fn list(&self, resource: &str) -> Vec<Arc<Value>> {
        self.0.get(resource).cloned().unwrap_or_default()
    }

    fn now(&self) -> String {
        "2026-01-01T00:00:00Z".to_owned()
    }

    fn random(&self) -> u64 {
        7
    }
}

/// Reads an object through its type, as the server does before anything else.
fn read(mut object: Value) -> Value {
    static RESOURCES: OnceLock<Vec<Resource>> = OnceLock::new();
    let resources = RESOURCES.get_or_init(resources);
    let kind = object["kind"].as_str().unwrap();
    let resource = resources.iter().find(|resource| resource.kind_name == kind).unwrap();
    resource.kind.read(&mut object).unwrap();
    object
}

fn kind_of(object: &Value) -> &'static dyn Particular {
    particular(object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap()).unwrap()
}

/// What comes of a new object.
pub(crate) fn create(object: &Value, world: &World) -> Answer {
    let mut object = read(object.clone());
    if object["kind"] != "Node" {
        object.as_object_mut().unwrap().remove("status");
    }
    object["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000000");
    if object["metadata"].get("name").is_none() {
        object["metadata"]["name"] = json!("");
    }
    finish(object, None, Part::Whole, world)
}

/// What comes of a replacement of `old`.
pub(crate) fn replace(object: &Value, old: &Value, part: Part, world: &World) -> Answer {
    let mut object = read(object.clone());
    match part {
        Part::Status => object["spec"] = old["spec"].clone(),
        _ if old.get("status").is_some() => object["status"] = old["status"].clone(),
        _ => {}
    }
    finish(object, Some(old), part, world)
}

fn finish(mut object: Value, old: Option<&Value>, part: Part, world: &World) -> Answer {
    let kind = kind_of(&object);
    kind.default(&mut object);
    if let Err(error) = kind.prepare(&mut object, old, part, world) {
        let status = error.to_status();
        let cause = |cause: &Value| {
            let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
            (text("field"), text("reason"), text("message"))
        };
        return Err(Refusal {
            code: error.reason.code(),
            reason: error.reason.as_str().to_owned(),
            message: error.message,
            causes: status["details"]["causes"].as_array().into_iter().flatten().map(cause).collect(),
        });
    }
    let errors = kind.check(&object, old, part);
    if errors.is_empty() {
        return Ok(object);
    }
    let causes = errors.iter().map(|error| {
        let cause = error.cause();
        (cause.field, cause.reason.to_owned(), cause.message)
    });
    Err(Refusal { code: 422, reason: "Invalid".to_owned(), message: String::new(), causes: causes.collect() })
}
