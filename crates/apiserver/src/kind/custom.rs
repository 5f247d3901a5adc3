//! The kinds that `CustomResourceDefinition`s define: their schema says what they are.

use serde_json::{Map, Value, json};

use super::metadata::{self, Rules};
use super::scaled::Scaled;
use super::{Kind, Sharing};
use crate::apply::{Typing, Typings, reset_by_main, reset_by_status};
use crate::lifecycle::Part;
use crate::registry::DefinitionError;
use crate::schema::{FieldError, Schema};

/// A kind that a CRD defines, in one version.
#[derive(Debug)]
pub struct Custom {
    schema: Schema,
    rules: Rules,
    sharing: Sharing,
    scaled: Option<Scaled>,
    /// The schema of the version that is stored, where this is another.
    stored: Option<Schema>,
    /// What every request is warned with.
    deprecation: Option<String>,
}

impl Custom {
    /// The kind of this version of a CRD.
    pub fn of(crd: &Value, version: &Value) -> Result<Self, DefinitionError> {
        let group = crd.pointer("/spec/group").and_then(Value::as_str).unwrap_or_default();
        let compile = |version: &Value| {
            let unfit = |errors: Vec<_>| DefinitionError::Schema(crate::schema::aggregate(&errors));
            Schema::compile(schema_of(version)).map_err(unfit)
        };
        let schema = compile(version)?;
        let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
        let typings: Typings = versions
            .into_iter()
            .flatten()
            .filter_map(|version| {
                let name = version.get("name").and_then(Value::as_str)?;
                let typing = Typing::of_custom_resource(schema_of(version)).ok()?;
                Some((format!("{group}/{name}"), typing))
            })
            .collect();
        let has_status = version.pointer("/subresources/status").is_some();
        let sharing = Sharing {
            typings,
            empty: json!({}),
            merge_keys: None,
            reset_by_whole: reset_by_main(has_status),
            reset_by_status: reset_by_status(),
        };
        let namespaced = crd.pointer("/spec/scope").and_then(Value::as_str) == Some("Namespaced");
        let all = versions.into_iter().flatten();
        let stored = all.clone().find(|one| one["storage"] == true && one["name"] != version["name"]);
        Ok(Self {
            schema,
            rules: Rules::of_custom_resource(namespaced),
            sharing,
            scaled: Scaled::of(version),
            stored: stored.map(compile).transpose()?,
            deprecation: deprecation(crd, version),
        })
    }
}

/// What every request for a deprecated version is warned with.
fn deprecation(crd: &Value, version: &Value) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let own = version.get("deprecationWarning").map(text);
    let (group, kind) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"]));
    own.or_else(|| Some(format!("{group}/{} {kind} is deprecated", text(&version["name"]))))
}

fn schema_of(version: &Value) -> &Value {
    version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null)
}

impl Kind for Custom {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        if let Some(metadata) = object.get_mut("metadata") {
            read_metadata(metadata)?;
        }
        Ok(self.schema.prune(object))
    }

    fn default(&self, object: &mut Value) {
        self.schema.default(object);
    }

    fn default_applied(&self, object: &mut Value) {
        self.schema.fill(object);
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = match old {
            Some(old) => metadata::check_update(object, old, self.rules),
            None => metadata::check_create(object, self.rules),
        };
        let scaled = self.scaled.as_ref();
        let wanted = scaled.filter(|_| part != Part::Status).and_then(|scaled| scaled.check_spec(object));
        let there = scaled.and_then(|scaled| scaled.check_status(object));
        let more = wanted.into_iter().chain(there).collect();
        match (part, old) {
            (Part::Status, Some(old)) => errors.extend(self.schema.validate_status(object, old, more)),
            _ => self.schema.validate_further(object, old, more, &mut errors),
        }
        errors
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        metadata::unqualified_finalizers(object, old)
    }

    fn revive(&self, object: &mut Value, outdated: bool) {
        if outdated {
            let schema = self.stored.as_ref().unwrap_or(&self.schema);
            schema.prune(object);
            schema.default(object);
        }
        if self.is_converted() {
            self.schema.prune(object);
        }
    }

    fn to_stored(&self, object: &mut Value) {
        if let Some(schema) = &self.stored {
            schema.prune(object);
        }
    }

    fn is_converted(&self) -> bool {
        self.stored.is_some()
    }

    fn deprecation(&self) -> Option<&str> {
        self.deprecation.as_deref()
    }

    fn is_custom(&self) -> bool {
        true
    }

    fn sharing(&self) -> &Sharing {
        &self.sharing
    }
}

/// The fields of metadata and what each must be. Metadata is read into its type, in which what is empty is not there.
fn read_metadata(metadata: &mut Value) -> Result<(), String> {
    let Value::Object(fields) = metadata else {
        return Err("metadata must be an object".to_owned());
    };
    for (name, value) in fields.iter() {
        if !value.is_null() && !is_of_its_type(name, value) {
            return Err(format!("json: cannot unmarshal {} into metadata.{name}", kind_of(value)));
        }
    }
    fields.retain(|_, value| !says_nothing(value));
    Ok(())
}

fn is_of_its_type(name: &str, value: &Value) -> bool {
    let texts =
        |fields: &Map<String, Value>| fields.values().all(|value| value.is_string() || value.is_null());
    match name {
        "name" | "namespace" | "generateName" | "uid" | "resourceVersion" | "selfLink"
        | "creationTimestamp" | "deletionTimestamp" => value.is_string(),
        "generation" | "deletionGracePeriodSeconds" => value.is_i64(),
        "labels" | "annotations" => value.as_object().is_some_and(texts),
        "finalizers" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        "ownerReferences" | "managedFields" => {
            value.as_array().is_some_and(|items| items.iter().all(Value::is_object))
        }
        _ => true,
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
