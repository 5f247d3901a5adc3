//! The kinds that `CustomResourceDefinition`s define: their schema says what they are.

use serde_json::{Value, json};

use super::built_in::read_metadata;
use super::metadata::{self, Rules};
use super::scaled::Scaled;
use super::{Kind, Sharing};
use crate::apply::{Typing, Typings, reset_by_main, reset_by_status};
use crate::discovery::by_version;
use crate::lifecycle::Part;
use crate::registry::DefinitionError;
use crate::schema::{FieldError, Path, Schema};

/// A kind that a CRD defines, in one version.
#[derive(Debug)]
pub struct Custom {
    /// `group/version`.
    api_version: String,
    kind: String,
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
        let text = |value: &Value, at: &str| {
            value.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let all = versions.into_iter().flatten();
        let stored = all.clone().find(|one| one["storage"] == true && one["name"] != version["name"]);
        Ok(Self {
            api_version: format!("{group}/{}", text(version, "/name")),
            kind: text(crd, "/spec/names/kind"),
            schema,
            rules: Rules::of_custom_resource(namespaced),
            sharing,
            scaled: Scaled::of(version),
            stored: stored.map(compile).transpose()?,
            deprecation: deprecation(crd, version),
        })
    }

    /// What is wrong with what an object says that it is: then nothing else is looked at.
    fn check_type(&self, object: &Value) -> Vec<FieldError> {
        let wanted = [("kind", &self.kind), ("apiVersion", &self.api_version)];
        let errors = wanted.into_iter().filter_map(|(name, wanted)| {
            let given = object.get(name).and_then(Value::as_str).unwrap_or_default();
            let wrong = || FieldError::invalid(&Path::new(name), given, format!("must be {wanted}"));
            (given != wanted).then(wrong)
        });
        errors.collect()
    }

    /// Takes away what the schema does not know, if there is one for what the object says that it is. There is none, and nothing
    /// is known, for another version of the kind.
    fn prune(&self, object: &mut Value) -> Vec<String> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let group = |version: &str| version.split_once('/').map(|(group, _)| group.to_owned());
        if text("kind") != self.kind || group(text("apiVersion")) != group(&self.api_version) {
            return Vec::new();
        }
        if text("apiVersion") == self.api_version {
            return self.schema.prune(object);
        }
        let Value::Object(fields) = object else { return Vec::new() };
        let unknown =
            fields.keys().filter(|name| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
        let unknown: Vec<String> = unknown.cloned().collect();
        fields.retain(|name, _| !unknown.contains(name));
        unknown
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
    let name = text(&version["name"]);
    let better = better_version(crd, &name).map(|better| format!("; use {group}/{better} {kind}"));
    own.or_else(|| Some(format!("{group}/{name} {kind} is deprecated{}", better.unwrap_or_default())))
}

/// The version to be used instead of a deprecated one: the best that is served, if it is better.
fn better_version<'a>(crd: &'a Value, deprecated: &str) -> Option<&'a str> {
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array)?;
    let is_good = |version: &&Value| version["served"] == true && version["deprecated"] != true;
    let names = versions.iter().filter(is_good).filter_map(|version| version["name"].as_str());
    names.filter(|name| by_version(name, deprecated).is_lt()).min_by(|one, other| by_version(one, other))
}

fn schema_of(version: &Value) -> &Value {
    version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null)
}

impl Kind for Custom {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let mut unknown = Vec::new();
        if let Some(metadata) = object.get_mut("metadata") {
            let names = read_metadata(metadata)?;
            unknown.extend(names.into_iter().map(|name| format!("metadata.{name}")));
        }
        unknown.extend(self.prune(object));
        Ok(unknown)
    }

    fn default(&self, object: &mut Value) {
        self.schema.default(object);
    }

    fn default_applied(&self, object: &mut Value) {
        self.schema.fill(object);
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let wrong = self.check_type(object);
        if !wrong.is_empty() {
            return wrong;
        }
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
