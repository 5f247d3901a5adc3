//! `CustomResourceDefinition`: its defaults, what makes one valid, and the status that the server keeps in it.

mod approval;
mod columns;
mod conversion;
mod internal;
mod names;
mod selectable;
mod shown;
mod spec;
mod status;
mod versions;

pub use status::{cleaned, deleting, established, is_established, marked};

use serde_json::{Map, Value, json};

use self::internal::Internal;
use super::fields::{fill_text, is_true, list, object_at, take_over, text};
use crate::error::ApiError;
use crate::kind::{Around, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, Path, is_known_format};

/// The port of a service that nobody named.
const HTTPS: i64 = 443;

/// What is particular to `CustomResourceDefinition`.
#[derive(Debug)]
pub(super) struct Crd;

impl Particular for Crd {
    fn default(&self, object: &mut Value) {
        if let Some(spec) = object_at(object, "spec") {
            default_spec(spec);
        }
        if list(object, "/status/storedVersions").is_empty()
            && let Some(stored) = stored_version(object)
            && let Some(status) = object_at(object, "status")
        {
            status.insert("storedVersions".to_owned(), json!([stored]));
        }
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        _: &dyn Around,
    ) -> Result<(), ApiError> {
        match (old, part) {
            (_, Part::Status) => {}
            (Some(old), _) => take_over(object, old, "status"),
            (None, _) => object["status"] = json!({}),
        }
        let stored = stored_version(object).filter(|_| part != Part::Status);
        let Some(status) = object_at(object, "status") else { return Ok(()) };
        status.entry("conditions").or_insert(Value::Null);
        let names = status.entry("acceptedNames").or_insert_with(|| json!({}));
        if let Some(names) = names.as_object_mut() {
            names.entry("plural").or_insert_with(|| "".into());
            names.entry("kind").or_insert_with(|| "".into());
        }
        let known = status.entry("storedVersions").or_insert(Value::Null);
        if let Some(stored) = stored
            && !known.as_array().is_some_and(|known| known.contains(&stored))
        {
            match known.as_array_mut() {
                Some(known) => known.push(stored),
                None => *known = json!([stored]),
            }
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let (accepted, at) = (&object["status"]["acceptedNames"], Path::new("status.acceptedNames"));
        if part == Part::Status {
            names::check(&at, accepted, &mut errors);
            return errors;
        }
        if old.is_none() {
            check_name(object, &mut errors);
        }
        spec::check(object, old, &mut errors);
        names::check(&at, accepted, &mut errors);
        versions::check_stored(object, &mut errors);
        approval::check(object, old, &mut errors);
        let preserves = |crd: &Value| is_true(&crd["spec"], "preserveUnknownFields");
        if preserves(object) && !old.is_some_and(preserves) {
            let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                 spec.versions[*].schema instead";
            errors.push(FieldError::invalid(&Path::new("spec.preserveUnknownFields"), true, detail));
        }
        errors
    }

    fn marked(&self, object: &Value, now: &str) -> Option<Value> {
        (!metadata::is_ending(object)).then(|| marked(object, now))
    }

    fn is_held(&self, object: &Value) -> bool {
        !metadata::is_ending(object)
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let known = old.map(unknown_formats).unwrap_or_default();
        let new = unknown_formats(object).into_iter().filter(|format| !known.contains(format));
        new.map(|format| format!("unrecognized format {format:?}")).collect()
    }
}

fn default_spec(spec: &mut Map<String, Value>) {
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !kind.is_empty() {
            fill_text(names, "singular", &kind.to_lowercase());
            fill_text(names, "listKind", &format!("{kind}List"));
        }
    }
    let conversion = spec.entry("conversion").or_insert(Value::Null);
    if conversion.is_null() {
        *conversion = json!({"strategy": "None"});
    }
    let service = conversion.pointer_mut("/webhook/clientConfig/service").and_then(Value::as_object_mut);
    if let Some(service) = service {
        service.entry("port").or_insert_with(|| HTTPS.into());
    }
}

/// The first version that is marked as the one that is stored.
fn stored_version(crd: &Value) -> Option<Value> {
    let stored = list(crd, "/spec/versions").iter().find(|version| is_true(version, "storage"))?;
    stored.get("name").cloned()
}

fn check_name(crd: &Value, errors: &mut Vec<FieldError>) {
    let name = text(crd, "/metadata/name");
    if name != format!("{}.{}", text(crd, "/spec/names/plural"), text(crd, "/spec/group")) {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid(&Path::new("metadata.name"), name, detail));
    }
}

/// The formats in its schemas that nobody checks, each once.
fn unknown_formats(crd: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let internal = Internal::of(crd);
    let shared = internal.shared.schema.into_iter();
    for schema in shared.chain(internal.versions.iter().filter_map(|version| version.own.schema)) {
        collect_formats(&schema["openAPIV3Schema"], &mut found);
    }
    found
}

fn collect_formats(schema: &Value, found: &mut Vec<String>) {
    let format = text(schema, "/format");
    let known = match text(schema, "/type") {
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => is_known_format(format),
    };
    if !format.is_empty() && !known && !found.iter().any(|known| known == format) {
        found.push(format.to_owned());
    }
    for field in ["items", "not", "additionalProperties", "additionalItems"] {
        match schema.get(field) {
            Some(Value::Array(all)) => all.iter().for_each(|schema| collect_formats(schema, found)),
            Some(one) => collect_formats(one, found),
            None => {}
        }
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        for schema in list(schema, &format!("/{field}")) {
            collect_formats(schema, found);
        }
    }
    for field in ["properties", "patternProperties", "definitions"] {
        let all = schema.get(field).and_then(Value::as_object);
        all.into_iter().flatten().for_each(|(_, schema)| collect_formats(schema, found));
    }
}
