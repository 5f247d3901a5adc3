//! One node of an `openAPIV3Schema`: what CRDs may say about a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::cel::Compiled;
use super::field_error::FieldError;
use super::path::Path;
use super::read;

/// What a schema says about one value.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // the keywords of the schema, as they are
pub(crate) struct Node {
    pub(crate) kind: String,
    pub(crate) nullable: bool,
    pub(crate) has_title: bool,
    pub(crate) has_description: bool,
    pub(crate) default: Option<Value>,
    pub(crate) bounds: Bounds,
    pub(crate) all_of: Vec<Node>,
    pub(crate) any_of: Vec<Node>,
    pub(crate) one_of: Vec<Node>,
    pub(crate) not: Option<Box<Node>>,
    pub(crate) properties: BTreeMap<String, Node>,
    pub(crate) additional: Option<Additional>,
    pub(crate) items: Option<Box<Node>>,
    /// `x-kubernetes-preserve-unknown-fields`
    pub(crate) preserve: Option<bool>,
    /// `x-kubernetes-embedded-resource`
    pub(crate) embedded: bool,
    /// `x-kubernetes-int-or-string`
    pub(crate) int_or_string: bool,
    pub(crate) list_type: Option<String>,
    pub(crate) list_map_keys: Vec<String>,
    pub(crate) map_type: Option<String>,
    /// `x-kubernetes-validations`
    pub(crate) rules: Vec<Rule>,
    /// Whether there are rules here or further inside.
    pub(crate) rules_inside: bool,
    /// Keywords that no CRD may use.
    pub(crate) unsupported: Vec<&'static str>,
}

/// The bounds of a value.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // the keywords of the schema, as they are
pub(crate) struct Bounds {
    pub(crate) format: String,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) max_length: Option<i64>,
    pub(crate) min_length: Option<i64>,
    pub(crate) pattern: String,
    /// The pattern compiled; nothing if there is none, or it is none.
    pub(crate) regex: Option<regex::Regex>,
    pub(crate) max_items: Option<i64>,
    pub(crate) min_items: Option<i64>,
    pub(crate) unique_items: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) allowed: Vec<Value>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) required: Vec<String>,
}

/// `additionalProperties`: a schema, or whether others are allowed.
#[derive(Clone, Debug)]
pub(crate) struct Additional {
    pub(crate) allows: bool,
    pub(crate) schema: Option<Box<Node>>,
}

/// One rule of `x-kubernetes-validations`, as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    /// The expression.
    pub(crate) text: String,
    pub(crate) message: String,
    pub(crate) message_expression: String,
    pub(crate) reason: Option<String>,
    pub(crate) field_path: String,
    pub(crate) optional_old_self: Option<bool>,
    pub(crate) compiled: Arc<Compiled>,
}

impl Node {
    /// Whether unknown fields are kept.
    pub(crate) fn preserves(&self) -> bool {
        self.preserve == Some(true)
    }

    /// The schema of a field, declared or additional.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or_else(|| self.additional_schema())
    }

    /// The schema of all other fields.
    pub(crate) fn additional_schema(&self) -> Option<&Node> {
        self.additional.as_ref().and_then(|additional| additional.schema.as_deref())
    }

    /// Whether a node says nothing but a type.
    pub(crate) fn says_only_type(&self, kind: &str) -> bool {
        let mut rest = self.clone();
        rest.kind.clear();
        self.kind == kind && rest.says_nothing()
    }

    /// Whether a node says nothing at all.
    pub(crate) fn says_nothing(&self) -> bool {
        let texts = [&self.kind, &self.bounds.format, &self.bounds.pattern];
        let flags = [
            self.nullable,
            self.has_title,
            self.has_description,
            self.default.is_some(),
            self.not.is_some(),
            self.additional.is_some(),
            self.items.is_some(),
            self.preserve.is_some(),
            self.embedded,
            self.int_or_string,
            self.list_type.is_some(),
            self.map_type.is_some(),
        ];
        let branches = [&self.all_of, &self.any_of, &self.one_of];
        texts.iter().all(|text| text.is_empty())
            && !flags.contains(&true)
            && branches.iter().all(|branches| branches.is_empty())
            && self.properties.is_empty()
            && self.list_map_keys.is_empty()
            && self.rules.is_empty()
            && self.unsupported.is_empty()
            && self.bounds.says_nothing()
    }

    /// Reads a schema; what cannot be read is a problem of its own.
    pub(crate) fn read(value: &Value, path: &Path) -> Result<Self, FieldError> {
        read::read(value, path)
    }
}

impl Bounds {
    fn says_nothing(&self) -> bool {
        let sizes = [
            self.max_length,
            self.min_length,
            self.max_items,
            self.min_items,
            self.max_properties,
            self.min_properties,
        ];
        let numbers = [self.maximum, self.minimum, self.multiple_of];
        sizes.iter().all(Option::is_none)
            && numbers.iter().all(Option::is_none)
            && !(self.exclusive_maximum || self.exclusive_minimum || self.unique_items)
            && self.allowed.is_empty()
            && self.required.is_empty()
    }
}
