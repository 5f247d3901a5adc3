//! The built-in kinds: their types, and what is particular to each.

pub mod catalogue;
mod definitions;
mod events;
mod known;
pub(crate) mod order;
mod read;
mod roots;
mod texts;
pub(crate) mod types;

pub use definitions::{PLACE, definition, definitions, differences, with_references};
pub(super) use events::to_core as event_to_core;
pub(crate) use known::read_known;

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::metadata::{self, Rules};
use super::{Around, Kind, Particular, Sharing};
use crate::apply::{FieldSet, MergeKeys, Typing, Typings, reset_by_main};
use crate::error::ApiError;
use crate::lifecycle::Part;
use crate::schema::FieldError;

/// The definition of metadata.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A built-in kind in one version.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its definition, such as `io.k8s.api.core.v1.Pod`.
    definition: String,
    /// `group/version`.
    api_version: String,
    rules: Rules,
    has_status: bool,
    /// What a write to its status cannot change.
    reset_by_status: &'static [&'static [&'static str]],
    particular: &'static dyn Particular,
    /// Made when it is first needed: it is large.
    sharing: OnceLock<Sharing>,
}

impl BuiltIn {
    fn share(&self) -> Sharing {
        let versions = if self.is_event() {
            vec![("v1", events::CORE), ("events.k8s.io/v1", events::NEW)]
        } else {
            vec![(self.api_version.as_str(), self.definition.as_str())]
        };
        let typings: Typings = versions
            .into_iter()
            .filter_map(|(version, name)| {
                Some((version.to_owned(), Typing::of_definition(name, &with_references(&[name])).ok()?))
            })
            .collect();
        let mut empty = json!({});
        let _ = read::read(&self.definition, &mut empty);
        let merge_keys = MergeKeys::of_definition(&self.definition, &with_references(&[&self.definition]));
        Sharing {
            typings,
            empty,
            merge_keys: Some(merge_keys),
            reset_by_whole: reset_by_main(self.has_status),
            reset_by_status: FieldSet::of_names(self.reset_by_status),
        }
    }

    fn read_by(
        &self,
        read: fn(&str, &mut Value) -> Result<Vec<String>, String>,
        object: &mut Value,
    ) -> Result<Vec<String>, String> {
        let given = empty_lists(object);
        // A definition must have a version.
        let versions = |object: &Value| object.get("spec")?.get("versions")?.as_array().map(Vec::len);
        let without_versions = versions(object) == Some(0);
        let unknown = read(&self.definition, object)?;
        // What is wrong with it is shown as it was sent.
        if without_versions && object["spec"].get("versions").is_some() {
            object["spec"]["versions"] = json!([]);
        }
        // Whoever sends an empty list that is always printed owns it; it is stored as none.
        for name in given {
            if let Some(value @ Value::Null) = object.get_mut(&name) {
                *value = Value::Array(Vec::new());
            }
        }
        Ok(unknown)
    }

    fn is_event(&self) -> bool {
        matches!(self.definition.as_str(), events::CORE | events::NEW)
    }
}

/// Reads an object through the type of its kind, which is none of those that are kept: reviews and scales. Gives the paths
/// of what it does not know, or what is said of a value that cannot be read.
pub(crate) fn read_unkept(api_version: &str, kind: &str, object: &mut Value) -> Result<Vec<String>, String> {
    read::read(&types::definition(api_version, kind), object)
}

/// Reads the metadata of an object of any kind through its type. Gives the paths in it of what the type does not know.
pub(crate) fn read_metadata(metadata: &mut Value) -> Result<Vec<String>, String> {
    read::read(OBJECT_META, metadata)
}

impl Kind for BuiltIn {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        self.read_by(read::read, object)
    }

    fn read_merged(&self, object: &mut Value) -> Result<Vec<String>, String> {
        self.read_by(read::convert, object)
    }

    fn default(&self, object: &mut Value) {
        self.particular.default(object);
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        for name in empty_lists(object) {
            object[name] = Value::Null;
        }
        self.particular.prepare(object, old, part, around)
    }

    fn complete(&self, object: &mut Value, sent: &Value) {
        self.particular.complete(object, sent);
    }

    fn allocates(&self) -> bool {
        self.particular.allocates()
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = match old {
            Some(old) => metadata::check_update(object, old, self.rules),
            None => metadata::check_create(object, self.rules),
        };
        errors.extend(self.particular.check(object, old, part));
        errors
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        self.particular.warnings(object, old)
    }

    fn deprecation(&self) -> Option<&str> {
        self.particular.deprecation()
    }

    fn revive(&self, object: &mut Value, _: bool) {
        if self.is_converted() {
            events::to_new(object);
        }
    }

    fn to_stored(&self, object: &mut Value) {
        if self.is_converted() {
            events::to_core(object);
        }
    }

    fn is_converted(&self) -> bool {
        self.definition == events::NEW
    }

    fn sharing(&self) -> &Sharing {
        self.sharing.get_or_init(|| self.share())
    }

    fn grace(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        self.particular.grace(object, asked)
    }

    fn marked(&self, object: &Value, now: &str) -> Option<Value> {
        self.particular.marked(object, now)
    }

    fn refuse_end(&self, object: &Value) -> Result<(), ApiError> {
        self.particular.refuse_end(object)
    }

    fn is_held(&self, object: &Value) -> bool {
        self.particular.is_held(object)
    }

    fn orphans(&self) -> bool {
        self.particular.orphans()
    }
}

/// The names of the fields of an object that are empty lists.
fn empty_lists(object: &Value) -> Vec<String> {
    let fields = object.as_object().into_iter().flatten();
    let empty = fields.filter(|(_, value)| value.as_array().is_some_and(Vec::is_empty));
    empty.map(|(name, _)| name.clone()).collect()
}
