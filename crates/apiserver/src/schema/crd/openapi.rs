//! Which keywords of `OpenAPI` a CRD may use, and where.

use super::super::cel;
use super::super::field_error::FieldError;
use super::super::metadata::META_FIELDS;
use super::super::node::Node;
use super::super::path::Path;
use super::{lists, rules};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// What the surroundings of a schema forbid.
#[derive(Clone, Default)]
struct Surroundings {
    /// Why a default may not be set.
    no_default: Option<String>,
    inside_metadata: bool,
    /// The list, or map, whose items cannot be told to be the same before and after an update.
    uncorrelatable: Option<Path>,
    /// Whether rules can be compiled here.
    has_types: bool,
    is_root: bool,
}

/// Problems of the schema, then problems of its rules.
pub(super) fn validate(node: &Node, path: &Path, is_sound: bool) -> Vec<FieldError> {
    let surroundings = Surroundings { has_types: is_sound, is_root: true, ..Surroundings::default() };
    let mut found = Found::default();
    found.visit(node, path, &surroundings);
    found.schema.append(&mut found.rules);
    found.schema
}

#[derive(Default)]
struct Found {
    schema: Vec<FieldError>,
    rules: Vec<FieldError>,
}

impl Found {
    fn visit(&mut self, node: &Node, path: &Path, around: &Surroundings) {
        let before = self.schema.len();
        self.keywords(node, path, around);
        self.inside(node, path, around);
        if node.preserve == Some(false) {
            let at = path.child("x-kubernetes-preserve-unknown-fields");
            self.schema.push(FieldError::invalid(&at, false, "must be true or undefined"));
        }
        lists::validate(node, path, &mut self.schema);
        rules::validate(node, path, &mut self.schema);
        if !node.rules.is_empty() && self.schema.len() == before && around.has_types {
            let check = cel::RuleCheck {
                is_resource: around.is_root || node.embedded,
                uncorrelatable: around.uncorrelatable.as_ref(),
            };
            self.rules.append(&mut check.run(node, path));
        }
    }

    fn keywords(&mut self, node: &Node, path: &Path, around: &Surroundings) {
        let mut forbid = |name: &str, detail: String| {
            self.schema.push(FieldError::forbidden(&path.child(name), detail));
        };
        if node.default.is_some()
            && let Some(reason) = &around.no_default
        {
            forbid("default", format!("must not be set {reason}"));
        }
        for name in node.unsupported.iter().filter(|name| **name != "$schema") {
            forbid(
                name,
                match *name {
                    "items" => "items must be a schema object and not an array".to_owned(),
                    name => format!("{name} is not supported"),
                },
            );
        }
        if node.kind == "null" {
            forbid("type", "type cannot be set to null, use nullable as an alternative".to_owned());
        }
        if around.inside_metadata && node.embedded {
            forbid("x-kubernetes-embedded-resource", "must not be used inside of resource meta".to_owned());
        }
        if node.bounds.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            forbid("uniqueItems", detail.to_owned());
        }
        let is_exclusive = |other: &super::super::node::Additional| !other.allows || other.schema.is_some();
        if node.additional.as_ref().is_some_and(is_exclusive) && !node.properties.is_empty() {
            forbid(
                "additionalProperties",
                "additionalProperties and properties are mutual exclusive".to_owned(),
            );
        }
        if !node.kind.is_empty() && !TYPES.contains(&node.kind.as_str()) {
            let types = TYPES.map(str::to_owned);
            self.schema.push(FieldError::not_supported(&path.child("type"), node.kind.as_str(), &types));
        }
    }

    fn inside(&mut self, node: &Node, path: &Path, around: &Surroundings) {
        let within = Surroundings { is_root: false, ..around.clone() };
        if let Some(additional) = node.additional_schema() {
            let mut around = within.clone();
            if around.inside_metadata {
                around.no_default =
                    Some("inside additionalProperties applying to object metadata".to_owned());
            }
            self.visit(additional, &path.child("additionalProperties"), &around);
        }
        for (name, property) in &node.properties {
            let mut around_it = within.clone();
            if (around.is_root || node.embedded) && META_FIELDS.contains(&name.as_str()) {
                around_it.inside_metadata = true;
                if around.is_root {
                    around_it.no_default = Some(format!("in top-level {name}"));
                }
            }
            self.visit(property, &path.child("properties").key(name), &around_it);
        }
        let nested = Surroundings { has_types: false, ..within.clone() };
        if let Some(not) = node.not.as_deref() {
            self.visit(not, &path.child("not"), &nested);
        }
        for (name, branches) in [("allOf", &node.all_of), ("oneOf", &node.one_of), ("anyOf", &node.any_of)] {
            for (index, branch) in branches.iter().enumerate() {
                self.visit(branch, &path.child(name).index(index), &nested);
            }
        }
        if let Some(items) = node.items.as_deref() {
            let mut around = within;
            if node.list_type.as_deref() != Some("map") && around.uncorrelatable.is_none() {
                around.uncorrelatable = Some(path.clone());
            }
            self.visit(items, &path.child("items"), &around);
        }
    }
}
