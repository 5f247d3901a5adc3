//! A `CustomResourceDefinition`, read: the resources it makes the server serve.

use std::sync::Arc;

use serde_json::Value;

use super::{Column, Resource, ScalePaths, Selectable};
use crate::kind::Custom;
use crate::lifecycle::Traits;

/// What cannot be made sense of in a `CustomResourceDefinition`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// A field that must be there is not.
    #[error("{0}: Required value")]
    Missing(String),
    /// The name must say what it defines.
    #[error("metadata.name: must be spec.names.plural+\".\"+spec.group: {0:?}")]
    Name(String),
    /// `scope` is one of two.
    #[error("spec.scope: must be Cluster or Namespaced, not {0:?}")]
    Scope(String),
    /// Exactly one version is the one that is stored.
    #[error("spec.versions: must have exactly one version marked as storage version")]
    Storage,
    /// The schema of a version cannot be compiled.
    #[error("spec.versions: {0}")]
    Schema(String),
}

/// A `CustomResourceDefinition`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The API group.
    pub group: String,
    /// The name in paths.
    pub plural: String,
    /// The version that is stored.
    pub stored: String,
    resources: Vec<Resource>,
}

impl Definition {
    /// Understands one.
    pub fn read(crd: &Value) -> Result<Self, DefinitionError> {
        let group = required(crd, "/spec/group")?;
        let plural = required(crd, "/spec/names/plural")?;
        let name = required(crd, "/metadata/name")?;
        if name != format!("{plural}.{group}") {
            return Err(DefinitionError::Name(name));
        }
        let namespaced = match required(crd, "/spec/scope")?.as_str() {
            "Namespaced" => true,
            "Cluster" => false,
            other => return Err(DefinitionError::Scope(other.to_owned())),
        };
        let versions = crd.pointer("/spec/versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let stored: Vec<&Value> = versions.iter().filter(|version| version["storage"] == true).collect();
        let [stored] = stored.as_slice() else { return Err(DefinitionError::Storage) };
        let stored = required(stored, "/name")?;
        let served = versions.iter().filter(|version| version["served"] == true);
        let resources = served
            .map(|version| {
                let made = resource(crd, version, &group, &plural, namespaced)?;
                Ok(Resource { stored: Some(stored.clone()), ..made })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { group, plural, stored, resources })
    }

    /// The versions that are served.
    pub fn resources(&self) -> Vec<Resource> {
        self.resources.clone()
    }
}

fn resource(
    crd: &Value,
    version: &Value,
    group: &str,
    plural: &str,
    namespaced: bool,
) -> Result<Resource, DefinitionError> {
    // Names that belong to another are asked for, and not had.
    let accepted = &crd["status"]["acceptedNames"];
    let names = if text(accepted, "/kind").is_some() { accepted } else { &crd["spec"]["names"] };
    let kind = required(crd, "/spec/names/kind")?;
    let kind = text(names, "/kind").unwrap_or(kind);
    let or = |path: &str, otherwise: String| text(names, path).unwrap_or(otherwise);
    Ok(Resource {
        id: Arc::from(format!("{group}/{plural}")),
        group: group.to_owned(),
        version: required(version, "/name")?,
        plural: plural.to_owned(),
        singular: or("/singular", kind.to_lowercase()),
        list_kind: or("/listKind", format!("{kind}List")),
        kind_name: kind,
        short_names: texts(names, "/shortNames"),
        categories: texts(names, "/categories"),
        traits: Traits {
            namespaced,
            status: version.pointer("/subresources/status").is_some(),
            generation: true,
            status_writes_metadata: false,
            first_status: false,
        },
        selectable: selectable(version, namespaced),
        scale: scale(version)?,
        columns: columns(version),
        schema: Arc::new(version.pointer("/schema/openAPIV3Schema").cloned().unwrap_or_default()),
        kind: Arc::new(Custom::of(crd, version)?),
        stored: None,
        verbs: super::ALL_VERBS,
        unconditional_update: false,
        create_on_update: false,
        returns_deleted: false,
        ending: text(crd, "/metadata/deletionTimestamp").is_some(),
        since: text(crd, "/metadata/resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0),
    })
}

/// The paths without their leading dot, as selectors write them, besides those that all have.
fn selectable(version: &Value, namespaced: bool) -> Vec<Selectable> {
    let fields = version.pointer("/selectableFields").and_then(Value::as_array);
    let paths = fields.into_iter().flatten().filter_map(|field| text(field, "/jsonPath"));
    let of_all: &[&str] =
        if namespaced { &["metadata.name", "metadata.namespace"] } else { &["metadata.name"] };
    let own = paths.map(|path| Selectable::at(path.trim_start_matches('.')));
    own.chain(of_all.iter().map(|path| Selectable::at(path))).collect()
}

fn scale(version: &Value) -> Result<Option<ScalePaths>, DefinitionError> {
    let Some(scale) = version.pointer("/subresources/scale") else { return Ok(None) };
    Ok(Some(ScalePaths {
        spec: required(scale, "/specReplicasPath")?,
        status: required(scale, "/statusReplicasPath")?,
        selector: text(scale, "/labelSelectorPath"),
    }))
}

fn columns(version: &Value) -> Vec<Column> {
    let columns = version.pointer("/additionalPrinterColumns").and_then(Value::as_array);
    let read = |column: &Value| Column {
        name: text(column, "/name").unwrap_or_default(),
        kind: text(column, "/type").unwrap_or_default(),
        format: text(column, "/format").unwrap_or_default(),
        description: text(column, "/description").unwrap_or_default(),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
        path: text(column, "/jsonPath").unwrap_or_default(),
    };
    columns.into_iter().flatten().map(read).collect()
}

fn text(object: &Value, path: &str) -> Option<String> {
    object.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn texts(object: &Value, path: &str) -> Vec<String> {
    let list = object.pointer(path).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn required(object: &Value, path: &str) -> Result<String, DefinitionError> {
    text(object, path).ok_or_else(|| DefinitionError::Missing(path.trim_start_matches('/').replace('/', ".")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd() -> Value {
        json!({
            "metadata": {"name": "widgets.example.org"},
            "spec": {
                "group": "example.org",
                "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
                "versions": [
                    {"name": "v1", "served": true, "storage": true,
                     "schema": {"openAPIV3Schema": {"type": "object"}},
                     "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
                     "selectableFields": [{"jsonPath": ".spec.colour"}],
                     "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n", "priority": 1}]},
                    {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
                    {"name": "v0", "served": false, "storage": false},
                ],
            },
        })
    }

    fn without(path: &[&str], field: &str) -> DefinitionError {
        let mut changed = crd();
        let place = path.iter().fold(&mut changed, |value, part| &mut value[*part]);
        place.as_object_mut().unwrap().remove(field);
        Definition::read(&changed).unwrap_err()
    }

    #[test]
    fn every_served_version_is_a_resource() {
        let definition = Definition::read(&crd()).unwrap();
        let [first, second] = definition.resources().try_into().unwrap();
        assert_eq!(
            (&*first.id, first.version.as_str(), definition.stored.as_str()),
            ("example.org/widgets", "v1", "v1")
        );
        assert_eq!((first.singular.as_str(), first.list_kind.as_str()), ("widget", "WidgetList"));
        assert_eq!((first.short_names, first.categories), (vec!["wd".to_owned()], vec!["all".to_owned()]));
        let labels: Vec<&str> = first.selectable.iter().map(|field| field.label.as_str()).collect();
        assert_eq!(labels, ["spec.colour", "metadata.name", "metadata.namespace"]);
        assert_eq!(first.scale.map(|scale| (scale.spec, scale.selector)), Some((".spec.n".into(), None)));
        assert_eq!(
            first.columns.first().map(|column| (column.name.as_str(), column.priority)),
            Some(("N", 1))
        );
        assert!(first.traits.status && first.traits.namespaced && !second.traits.status);
        assert_eq!(second.version, "v2");
    }

    #[test]
    fn names_are_those_that_were_accepted() {
        let mut crd = crd();
        crd["status"] = json!({"acceptedNames": {"plural": "widgets", "singular": "wid", "kind": "Widget", "listKind": "Widgets"}});
        let resource = Definition::read(&crd).unwrap().resources().remove(0);
        assert_eq!((resource.singular.as_str(), resource.list_kind.as_str()), ("wid", "Widgets"));
        assert!(resource.short_names.is_empty() && resource.categories.is_empty());
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(without(&["spec"], "group"), DefinitionError::Missing("spec.group".into()));
        assert_eq!(without(&["spec", "names"], "kind"), DefinitionError::Missing("spec.names.kind".into()));
        assert_eq!(without(&["spec"], "versions"), DefinitionError::Storage);
    }

    #[test]
    fn name_scope_and_storage_are_checked() {
        let changed = |path: &str, value: Value| {
            let mut crd = crd();
            *crd.pointer_mut(path).unwrap() = value;
            Definition::read(&crd).unwrap_err()
        };
        assert_eq!(changed("/metadata/name", "x".into()), DefinitionError::Name("x".into()));
        assert_eq!(changed("/spec/scope", "World".into()), DefinitionError::Scope("World".into()));
        assert_eq!(changed("/spec/versions/1/storage", true.into()), DefinitionError::Storage);
    }
}
