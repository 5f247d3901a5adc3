//! Which field of an object has which number.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::kind::built_in::types::{Type, definition, struct_of};

/// The numbers of the fields of every struct, in the form that `tools/kubernetes/fields messages` prints.
const MESSAGES: &str = include_str!("../kind/built_in/data/messages.json");

/// The options of deletions, which are in every group.
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// The fields of a message by their numbers.
pub(super) type Message = BTreeMap<u32, Place>;

/// Where a field goes.
#[derive(Debug)]
pub(super) enum Place {
    /// Its fields are fields of the object around it: a message of this definition.
    Around(String),
    Field {
        name: String,
        of: Type,
        /// Whether the lists in it are messages of their own.
        wrapped: bool,
    },
}

/// A field as it is written: its number, its name, and what is odd about it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Usual(u32, String),
    Odd(u32, String, String),
}

/// The message of a kind.
pub(super) fn of_kind(api_version: &str, kind: &str) -> Option<&'static Message> {
    if kind == "DeleteOptions" {
        return of(DELETE_OPTIONS);
    }
    of(&definition(api_version, kind))
}

/// The message of a definition.
pub(super) fn of(definition: &str) -> Option<&'static Message> {
    static ALL: LazyLock<BTreeMap<String, Message>> = LazyLock::new(|| {
        let read: BTreeMap<String, Vec<Written>> = serde_json::from_str(MESSAGES).unwrap_or_default();
        let message = |(definition, fields): (String, Vec<Written>)| {
            let fields = fields.into_iter().filter_map(|field| field.place(&definition)).collect();
            (definition, fields)
        };
        read.into_iter().map(message).collect()
    });
    ALL.get(definition)
}

impl Written {
    fn place(self, definition: &str) -> Option<(u32, Place)> {
        let (number, name, odd) = match self {
            Self::Usual(number, name) => (number, name, String::new()),
            Self::Odd(number, name, odd) => (number, name, odd),
        };
        if name.is_empty() {
            return Some((number, Place::Around(odd)));
        }
        let of = struct_of(definition)?.get(&name)?.of.clone();
        Some((number, Place::Field { name, of, wrapped: odd == "[]" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::built_in::catalogue;

    #[test]
    fn every_kind_that_is_served_has_a_message() {
        for resource in catalogue::resources() {
            let version = resource.api_version();
            assert!(of_kind(&version, &resource.kind_name).is_some(), "{version} {}", resource.kind_name);
        }
        let others = [
            ("authentication.k8s.io/v1", "SelfSubjectReview TokenReview TokenRequest"),
            ("authorization.k8s.io/v1", "LocalSubjectAccessReview SelfSubjectAccessReview"),
            ("authorization.k8s.io/v1", "SubjectAccessReview SelfSubjectRulesReview"),
            ("autoscaling/v1", "Scale"),
            ("policy/v1", "Eviction"),
            ("example.org/v1", "DeleteOptions"),
        ];
        for (version, kinds) in others {
            for kind in kinds.split(' ') {
                assert!(of_kind(version, kind).is_some(), "{version} {kind}");
            }
        }
        assert!(of_kind("example.org/v1", "Widget").is_none() && of_kind("", "").is_none());
    }

    #[test]
    fn every_field_that_json_has_has_a_number() {
        fn names(definition: &str) -> Vec<String> {
            let places = of(definition).unwrap_or_else(|| panic!("{definition}")).values();
            let each = places.flat_map(|place| match place {
                Place::Around(inner) => names(inner),
                Place::Field { name, .. } => vec![name.clone()],
            });
            each.collect()
        }
        let read: BTreeMap<String, Vec<Written>> = serde_json::from_str(MESSAGES).unwrap();
        assert!(read.len() > 400);
        for definition in read.keys().filter(|name| !name.ends_with(".TypeMeta")) {
            let mut numbered = names(definition);
            numbered.sort_unstable();
            let known = struct_of(definition).unwrap().iter();
            let known: Vec<String> = known
                .filter(|(_, field)| !field.embedded.iter().any(|around| around == "TypeMeta"))
                .map(|(name, _)| name.clone())
                .collect();
            assert_eq!(numbered, known, "{definition}");
        }
    }
}
