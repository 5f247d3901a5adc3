//! The structural schemas of CRDs, as kube-apiserver treats them.
//!
//! A schema is compiled when its CRD is created, and then serves every object of that kind: first
//! [`Schema::default`], then [`Schema::prune`], and, before anything is stored, [`Schema::validate`].
//!
//! Both sides are compared in `tests/real_schema`; what differs is listed in `tests/real_conformance/README.md`.

mod cel;
mod correlate;
mod crd;
mod defaulting;
mod field_error;
mod formats;
pub(crate) mod go;
mod list_types;
mod metadata;
mod node;
mod path;
mod pattern;
mod pruning;
mod read;
mod validation;

pub use field_error::{Cause, ErrorKind, FieldError, aggregate};
pub(crate) use formats::is_known as is_known_format;
pub(crate) use go::json as go_json;
pub use path::Path;

use node::Node;
use serde_json::Value;

/// Where the server finds the schema of a CRD with one version, whatever was written.
const USUAL_PATH: &str = "spec.validation.openAPIV3Schema";

/// What is said beside errors that keep rules from being evaluated.
const RULES_NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the \
     existing errors to complete validation";

/// The schema of one version of a custom resource.
#[derive(Debug)]
pub struct Schema {
    root: Node,
}

impl Schema {
    /// Compiles an `openAPIV3Schema`, or says everything that is wrong with it.
    pub fn compile(schema: &Value) -> Result<Self, Vec<FieldError>> {
        Self::compile_at(&Path::new(USUAL_PATH), schema)
    }

    /// As [`Self::compile`], for a schema that stands elsewhere in its CRD.
    pub fn compile_at(path: &Path, schema: &Value) -> Result<Self, Vec<FieldError>> {
        let root = Node::read(schema, path).map_err(|error| vec![error])?;
        let errors = crd::validate(&root, path);
        if errors.is_empty() { Ok(Self { root }) } else { Err(errors) }
    }

    /// What of a schema does not go with a status subresource, whose schema is taken out of it: at its root only a few
    /// keywords may stand.
    pub fn check_root_for_status(path: &Path, schema: &Value) -> Option<FieldError> {
        crd::check_root_for_status(path, schema)
    }

    /// Fills in defaults, after taking away nulls that stand for nothing.
    pub fn default(&self, object: &mut Value) {
        defaulting::drop_nulls(object, Some(&self.root));
        defaulting::fill(object, &self.root);
    }

    /// Fills in defaults, and leaves nulls as they are.
    pub fn fill(&self, object: &mut Value) {
        defaulting::fill(object, &self.root);
    }

    /// Takes away what the schema does not know, and gives the paths of it: `unknown field "spec.foo"`.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        pruning::prune_object(object, &self.root)
    }

    /// Everything that is wrong with an object; `old` is what it replaces.
    ///
    /// An update is forgiven what was wrong before, wherever it changes nothing.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        self.validate_further(object, old, Vec::new(), &mut errors);
        errors
    }

    /// As [`Self::validate`], of an object in which something may have been found wrong already: then rules may not be checked.
    /// `more` is what is wrong besides, and is said before what is wrong by rules.
    pub fn validate_further(
        &self,
        object: &Value,
        old: Option<&Value>,
        more: Vec<FieldError>,
        errors: &mut Vec<FieldError>,
    ) {
        errors.extend(validation::validate(object, &self.root, old));
        errors.extend(more);
        metadata::validate_embedded(object, &self.root, &Path::root(), errors);
        self.validate_lists_and_rules(object, old, errors);
    }

    /// Everything that is wrong with an object whose status, and nothing else, replaces that of `old`.
    ///
    /// Only the status is held against the schema, but all rules are evaluated. `more` is what is wrong besides.
    pub fn validate_status(&self, object: &Value, old: &Value, more: Vec<FieldError>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let (Some(status), Some(node)) = (object.get("status"), self.root.properties.get("status")) {
            let found = validation::validate(status, node, old.get("status"));
            errors.extend(found.into_iter().map(|error| error.below(&Path::new("status"))));
        }
        errors.extend(more);
        self.validate_lists_and_rules(object, Some(old), &mut errors);
        errors
    }

    fn validate_lists_and_rules(&self, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
        let root = Path::root();
        let duplicates = |object: &Value| {
            let mut errors = Vec::new();
            list_types::validate(object, &self.root, &root, &mut errors);
            errors
        };
        if old.is_none_or(|old| duplicates(old).is_empty()) {
            errors.append(&mut duplicates(object));
        }
        if !self.root.rules_inside {
            return;
        }
        if errors.iter().any(keeps_rules_from_running) {
            errors.push(FieldError::invalid(&root, Value::Null, RULES_NOT_CHECKED));
        } else {
            errors.append(&mut cel::validate(object, &self.root, old, true, &root));
        }
    }
}

fn keeps_rules_from_running(error: &FieldError) -> bool {
    use ErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(error.kind, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}

#[cfg(test)]
mod tests;
