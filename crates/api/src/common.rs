//! Types that more than one kind uses.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as KubeQuantity;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::quantity::Quantity;
use crate::schema;

/// A Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// The name of the Secret.
    #[schemars(length(min = 1, max = limits::DNS_SUBDOMAIN_MAX), regex(pattern = limits::DNS_SUBDOMAIN_PATTERN))]
    pub secret_name: String,
}

/// What a container asks for, and what it may use at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// What is set aside for the container, for example `cpu: 500m` and `memory: 1Gi`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::resource_list")]
    pub requests: BTreeMap<String, Quantity>,
    /// What the container may use at most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::resource_list")]
    pub limits: BTreeMap<String, Quantity>,
}

impl From<&Resources> for ResourceRequirements {
    fn from(resources: &Resources) -> Self {
        let convert = |list: &BTreeMap<String, Quantity>| {
            (!list.is_empty()).then(|| {
                list.iter().map(|(name, amount)| (name.clone(), KubeQuantity(amount.to_string()))).collect()
            })
        };
        Self { claims: None, limits: convert(&resources.limits), requests: convert(&resources.requests) }
    }
}

/// What becomes of a volume when its member is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Retention {
    /// The volume and its data stay.
    #[default]
    Retain,
    /// The volume is deleted with its member.
    Delete,
}

/// Whether a value is its type's default, for fields that are then left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
