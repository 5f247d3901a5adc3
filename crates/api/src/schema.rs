//! Schemas that the derive cannot produce: quantities, bounded maps, times, conditions, and the few Kubernetes
//! types we embed, with bounds on every list and string.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::limits;

/// Puts the rules on a schema.
fn with_rules(mut schema: Schema, rules: &[crate::rules::CelRule]) -> Schema {
    let list: Vec<_> = rules.iter().map(crate::rules::CelRule::to_value).collect();
    schema.insert("x-kubernetes-validations".to_owned(), list.into());
    schema
}

/// Any quantity.
pub fn quantity(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "x-kubernetes-int-or-string": true,
        "maxLength": limits::QUANTITY_MAX,
        "pattern": limits::QUANTITY_PATTERN,
    })
}

/// A quantity above zero.
pub fn positive_quantity(generator: &mut SchemaGenerator) -> Schema {
    with_rules(quantity(generator), &[crate::rules::QUANTITY_POSITIVE])
}

/// A quantity above zero that never shrinks.
pub fn growing_quantity(generator: &mut SchemaGenerator) -> Schema {
    with_rules(quantity(generator), &[crate::rules::QUANTITY_POSITIVE, crate::rules::CAPACITY_GROWS])
}

/// Requests or limits: resource names and quantities.
pub fn resource_list(generator: &mut SchemaGenerator) -> Schema {
    let mut amount = quantity(generator);
    amount.insert("pattern".to_owned(), limits::UNSIGNED_QUANTITY_PATTERN.into());
    json_schema!({
        "type": "object",
        "maxProperties": limits::MAX_RESOURCES,
        "additionalProperties": amount,
    })
}

/// A map of strings.
fn string_map(max_properties: u32, max_length: u32) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": max_properties,
        "additionalProperties": {"type": "string", "maxLength": max_length},
    })
}

/// Parameters of a cluster.
pub fn parameters(_: &mut SchemaGenerator) -> Schema {
    with_rules(
        string_map(limits::MAX_PARAMETERS, limits::PARAMETER_VALUE_MAX),
        &[crate::rules::PARAMETER_NAMES],
    )
}

/// Annotations of a Service.
pub fn annotations(_: &mut SchemaGenerator) -> Schema {
    string_map(limits::MAX_ANNOTATIONS, limits::ANNOTATION_VALUE_MAX)
}

/// Attributes of a failure domain.
pub fn attributes(_: &mut SchemaGenerator) -> Schema {
    string_map(limits::MAX_ATTRIBUTES, limits::STATUS_NAME_MAX)
}

/// Files of an engine.
pub fn files(_: &mut SchemaGenerator) -> Schema {
    with_rules(string_map(limits::MAX_FILES, limits::FILE_MAX), &[crate::rules::FILE_NAMES])
}

/// Images of an engine's version.
pub fn images(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": limits::MAX_CONTAINERS,
        "additionalProperties": {"type": "string", "minLength": 1, "maxLength": limits::IMAGE_MAX},
    })
}

/// A point in time.
pub fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "format": "date-time",
        "maxLength": 30,
        "pattern": limits::TIME_PATTERN,
    })
}

/// The conditions of an object: Kubernetes' own type, keyed by `type`.
pub fn conditions(generator: &mut SchemaGenerator) -> Schema {
    let mut transition = time(generator);
    transition.insert("description".to_owned(), "When the status last changed.".into());
    json_schema!({
        "type": "array",
        "maxItems": limits::MAX_CONDITIONS,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
            "properties": {
                "type": {
                    "type": "string",
                    "description": "What the condition is about, in CamelCase.",
                    "minLength": 1,
                    "maxLength": 316,
                },
                "status": {
                    "type": "string",
                    "description": "True, False, or Unknown when it cannot be known.",
                    "enum": ["True", "False", "Unknown"],
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "description": "The generation of the spec that this condition is about.",
                    "minimum": 0,
                },
                "lastTransitionTime": transition,
                "reason": {
                    "type": "string",
                    "description": "Why, in one word of CamelCase.",
                    "minLength": 1,
                    "maxLength": limits::WORD_MAX,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                },
                "message": {
                    "type": "string",
                    "description": "Why, for a person, who can act on it.",
                    "maxLength": limits::MESSAGE_MAX,
                },
            },
        },
    })
}

/// A list of strings within a selector.
fn selector_values() -> Schema {
    json_schema!({
        "type": "array",
        "description": "The values to compare with.",
        "maxItems": limits::MAX_SELECTOR,
        "x-kubernetes-list-type": "atomic",
        "items": {"type": "string", "maxLength": limits::LABEL_VALUE_MAX},
    })
}

/// A list of expressions over labels or fields.
fn expressions(description: &str, operators: &[&str]) -> Schema {
    json_schema!({
        "type": "array",
        "description": description,
        "maxItems": limits::MAX_SELECTOR,
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "required": ["key", "operator"],
            "properties": {
                "key": {
                    "type": "string",
                    "description": "The key of a label, or the name of a field.",
                    "minLength": 1,
                    "maxLength": limits::LABEL_KEY_MAX,
                },
                "operator": {"type": "string", "description": "How to compare.", "enum": operators},
                "values": selector_values(),
            },
        },
    })
}

/// One term of a node selector.
fn node_selector_term(description: &str) -> Schema {
    const OPERATORS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
    json_schema!({
        "type": "object",
        "description": description,
        "properties": {
            "matchExpressions": expressions("About the labels of nodes; all must hold.", OPERATORS),
            "matchFields": expressions("About the fields of nodes; all must hold.", OPERATORS),
        },
    })
}

/// Kubernetes' `NodeAffinity`, bounded.
pub fn node_affinity(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "type": "object",
                "description": "Which nodes are admitted.",
                "required": ["nodeSelectorTerms"],
                "properties": {
                    "nodeSelectorTerms": {
                        "type": "array",
                        "description": "A node is admitted when one of these holds.",
                        "minItems": 1,
                        "maxItems": limits::MAX_SELECTOR,
                        "x-kubernetes-list-type": "atomic",
                        "items": node_selector_term("What must hold for a node."),
                    },
                },
            },
            "preferredDuringSchedulingIgnoredDuringExecution": {
                "type": "array",
                "description": "Which of the admitted nodes are preferred.",
                "maxItems": limits::MAX_SELECTOR,
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["weight", "preference"],
                    "properties": {
                        "weight": {
                            "type": "integer",
                            "format": "int32",
                            "description": "How much it counts.",
                            "minimum": 1,
                            "maximum": 100,
                        },
                        "preference": node_selector_term("What should hold for a node."),
                    },
                },
            },
        },
    })
}

/// Kubernetes' tolerations, bounded.
pub fn tolerations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": limits::MAX_TOLERATIONS,
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "properties": {
                "key": {
                    "type": "string",
                    "description": "The key of the taint; all if not given.",
                    "maxLength": limits::LABEL_KEY_MAX,
                },
                "operator": {
                    "type": "string",
                    "description": "How to compare with `value`; `Equal` if not given.",
                    "enum": ["Exists", "Equal"],
                },
                "value": {
                    "type": "string",
                    "description": "The value of the taint.",
                    "maxLength": limits::LABEL_VALUE_MAX,
                },
                "effect": {
                    "type": "string",
                    "description": "The effect of the taint; all if not given.",
                    "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"],
                },
                "tolerationSeconds": {
                    "type": "integer",
                    "format": "int64",
                    "description": "How long `NoExecute` is tolerated; for ever if not given.",
                    "minimum": 0,
                },
            },
        },
    })
}

/// Kubernetes' `LabelSelector`, bounded.
pub fn label_selector(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "matchLabels": {
                "type": "object",
                "description": "Labels and the values they must have; all must hold.",
                "maxProperties": limits::MAX_SELECTOR,
                "additionalProperties": {"type": "string", "maxLength": limits::LABEL_VALUE_MAX},
            },
            "matchExpressions": expressions(
                "Expressions about labels; all must hold.",
                &["In", "NotIn", "Exists", "DoesNotExist"],
            ),
        },
    })
}
