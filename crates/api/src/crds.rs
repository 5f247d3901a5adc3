//! The manifests that are installed: what the derive makes, put right where the API server would let too much
//! through.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::{Member, ReplicatedCluster, ReplicationEngine};

/// The three CRDs, ready to be applied.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = vec![ReplicatedCluster::crd(), Member::crd(), ReplicationEngine::crd()];
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

/// Removes what the derive adds and nobody wants: `nullable`, which lets `null` past "at least one of", and titles.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
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
