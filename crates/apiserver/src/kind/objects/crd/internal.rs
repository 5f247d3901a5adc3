//! A CRD as the server has it inside: what is the same in all versions stands beside them, and is checked and named
//! there.

use serde_json::Value;

use super::super::fields::{list, something, text};
use super::shown::show_version;

/// The parts of a version that may be the same in all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts<'a> {
    /// `schema`.
    pub(super) schema: Option<&'a Value>,
    /// `subresources`.
    pub(super) subresources: Option<&'a Value>,
    /// `additionalPrinterColumns`.
    pub(super) columns: &'a [Value],
    /// `selectableFields`.
    pub(super) selectable: &'a [Value],
}

/// One version, with the parts that are its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    /// As it is written.
    pub(super) whole: &'a Value,
    /// What it does not share.
    pub(super) own: Parts<'a>,
}

/// The versions of a CRD.
#[derive(Debug)]
pub(super) struct Internal<'a> {
    /// Whether there is a list of versions at all.
    is_given: bool,
    /// What all versions share.
    pub(super) shared: Parts<'a>,
    /// The versions.
    pub(super) versions: Vec<Version<'a>>,
}

impl<'a> Internal<'a> {
    /// Sorts the parts of the versions into those that they share and those that they do not.
    pub(super) fn of(crd: &'a Value) -> Self {
        let versions = list(crd, "/spec/versions");
        let is_given = crd.pointer("/spec/versions").is_some_and(Value::is_array);
        let Some(first) = versions.first() else {
            return Self { is_given, shared: Parts::default(), versions: Vec::new() };
        };
        let is_shared =
            |field: &str| versions.iter().all(|version| same(version.get(field), first.get(field)));
        let is_same_pointer =
            |field: &str| versions.iter().all(|version| given(version, field) == given(first, field));
        let schema = is_same_pointer("schema");
        let subresources = is_same_pointer("subresources");
        let (columns, selectable) = (is_shared("additionalPrinterColumns"), is_shared("selectableFields"));
        let parts = |version: &'a Value, wanted: bool| Parts {
            schema: given(version, "schema").filter(|_| schema == wanted),
            subresources: given(version, "subresources").filter(|_| subresources == wanted),
            columns: if columns == wanted { list(version, "/additionalPrinterColumns") } else { &[] },
            selectable: if selectable == wanted { list(version, "/selectableFields") } else { &[] },
        };
        let own = versions.iter().map(|whole| Version { whole, own: parts(whole, false) });
        Self { is_given, shared: parts(first, true), versions: own.collect() }
    }

    /// The subresources of the version of this name.
    pub(super) fn subresources(&self, name: &str) -> Option<&'a Value> {
        if self.versions.iter().all(|version| version.own.subresources.is_none()) {
            return self.shared.subresources;
        }
        self.versions
            .iter()
            .find(|version| version.name() == name)
            .and_then(|version| version.own.subresources)
    }

    /// Whether any version has a status of its own.
    pub(super) fn has_status(&self) -> bool {
        let all =
            self.versions.iter().map(|version| version.own.subresources).chain([self.shared.subresources]);
        all.flatten().any(|subresources| given(subresources, "status").is_some())
    }

    /// All schemas there are.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &'a Value> {
        let all = self.versions.iter().map(|version| version.own.schema).chain([self.shared.schema]);
        all.flatten().filter_map(|schema| given(schema, "openAPIV3Schema"))
    }

    /// The versions in the words of the server's own types, as it shows them.
    pub(super) fn shown(&self) -> String {
        if !self.is_given {
            return "null".to_owned();
        }
        let versions: Vec<String> = self.versions.iter().map(show_version).collect();
        format!("[{}]", versions.join(","))
    }
}

/// A field that is there, and is not null.
pub(super) fn given<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|value| !value.is_null())
}

fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    something(one) == something(other)
}

impl<'a> Version<'a> {
    pub(super) fn name(&self) -> &'a str {
        text(self.whole, "/name")
    }
}
