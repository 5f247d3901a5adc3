//! The manifests that are installed: what the derive makes, put right where the API server would let too much
//! through.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;
use serde_json::Value;
use thiserror::Error;

use crate::{Member, ReplicatedCluster, ReplicationEngine, columns};

/// The three CRDs, ready to be applied.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = vec![ReplicatedCluster::crd(), Member::crd(), ReplicationEngine::crd()];
    for (crd, columns) in crds.iter_mut().zip([columns::CLUSTER, columns::MEMBER, columns::ENGINE]) {
        for version in &mut crd.spec.versions {
            version.additional_printer_columns = Some(columns.iter().map(Into::into).collect());
        }
    }
    for schema in crds.iter_mut().flat_map(root_schemas) {
        tidy(schema);
    }
    crds
}

fn root_schemas(crd: &mut CustomResourceDefinition) -> impl Iterator<Item = &mut JSONSchemaProps> {
    crd.spec
        .versions
        .iter_mut()
        .filter_map(|version| version.schema.as_mut())
        .filter_map(|validation| validation.open_api_v3_schema.as_mut())
}

/// Removes what the derive adds and nobody wants: `nullable`, which lets `null` past "at least one of", titles, and
/// the line breaks of doc comments. Says of what may be an integer or a string that it is one of the two: the derive
/// takes that away, and editors read it.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
    if let Some(description) = &mut schema.description {
        *description = description.replace('\n', " ");
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        schema.any_of = Some(["integer", "string"].map(of_type).to_vec());
    }
    for property in schema.properties.iter_mut().flat_map(|properties| properties.values_mut()) {
        tidy(property);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        tidy(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        tidy(values);
    }
}

fn of_type(name: &str) -> JSONSchemaProps {
    JSONSchemaProps { type_: Some(name.to_owned()), ..JSONSchemaProps::default() }
}

/// The file name and the YAML of each CRD, as they stand in `deploy/crds`.
pub fn manifests() -> Result<Vec<(String, String)>, ManifestError> {
    crds()
        .iter()
        .map(|crd| {
            let mut value = serde_json::to_value(crd)?;
            whole_numbers(&mut value);
            Ok((format!("{}.yaml", crd.spec.names.plural), serde_yaml_ng::to_string(&value)?))
        })
        .collect()
}

/// Why a manifest could not be written.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// As JSON.
    #[error("cannot write a CRD as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// As YAML.
    #[error("cannot write a CRD as YAML: {0}")]
    Yaml(#[from] serde_yaml_ng::Error),
}

/// Writes 512.0 as 512: bounds are floats in the Rust type, and integers everywhere else.
#[allow(clippy::cast_possible_truncation)] // every bound of ours is whole and far below 2^53, and is kept if it is not
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15) {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        _ => {}
    }
}
