//! The API description, as clients such as `kubectl explain` read it: version 3 for each group and version apart, and
//! version 2 for all in one.
//!
//! Equal to kube-apiserver's in the schemas of what is served, and in which operations there are with which parameters;
//! parameters are not described in words. Version 2 is there as protobuf too, which `kubectl` asks for before it says that there
//! is no such kind; version 3 is not: who asks for nothing else is told so (406).

mod binary;
mod message;
mod paths;
mod schemas;
#[cfg(test)]
mod tests;
mod v2;

pub use binary::{MEDIA_TYPE as BINARY, OLD_MEDIA_TYPE as OLD_BINARY, binary};
pub use v2::v2;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::registry::Resource;

/// What every description says of itself.
fn info() -> Value {
    json!({"title": "Kubernetes", "version": "1.36"})
}

/// How a client says who it is.
fn bearer_token() -> Value {
    json!({"BearerToken": {
        "type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header",
    }})
}

/// `/openapi/v3`: where the description of each group and version is. The hash changes when the description does, so that
/// clients can keep what they have.
pub fn index(resources: &[Arc<Resource>]) -> Value {
    let mut groups: BTreeMap<String, Vec<&Resource>> = BTreeMap::new();
    for resource in resources {
        groups.entry(place(resource)).or_default().push(resource);
    }
    let paths: Map<String, Value> = groups
        .into_iter()
        .map(|(place, resources)| {
            let url = format!("/openapi/v3/{place}?hash={}", fingerprint(&resources));
            (place, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

/// The hash of the description at a place such as `apis/apps/v1`; none if there is none.
pub fn hash(resources: &[Arc<Resource>], wanted: &str) -> Option<String> {
    let found: Vec<&Resource> =
        resources.iter().map(|one| &**one).filter(|resource| place(resource) == wanted).collect();
    (!found.is_empty()).then(|| fingerprint(&found))
}

/// The description at a place such as `api/v1` or `apis/apps/v1`; none if nothing is served there.
pub fn document(resources: &[Arc<Resource>], wanted: &str) -> Option<Value> {
    let found: Vec<&Resource> =
        resources.iter().map(|one| &**one).filter(|resource| place(resource) == wanted).collect();
    if found.is_empty() {
        return None;
    }
    let paths: Map<String, Value> = found.iter().flat_map(|resource| paths::of(resource)).collect();
    Some(json!({
        "openapi": "3.0.0",
        "info": info(),
        "paths": paths,
        "components": {"schemas": schemas::of(&found), "securitySchemes": bearer_token()},
    }))
}

/// Where a resource is described.
fn place(resource: &Resource) -> String {
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    format!("{root}/{}", resource.api_version())
}

/// A number that is another when the description is: built-in kinds are what they are in this build, others are what
/// their definitions say.
fn fingerprint(resources: &[&Resource]) -> String {
    let mut said = BTreeSet::new();
    for resource in resources {
        let schema = if resource.kind.is_custom() { resource.schema.to_string() } else { String::new() };
        let traits = format!("{:?}{:?}", resource.traits, resource.scale);
        said.insert(format!(
            "{} {} {} {traits} {schema}",
            resource.plural, resource.kind_name, resource.list_kind
        ));
    }
    let mut hash = Fnv::new();
    hash.add(env!("CARGO_PKG_VERSION"));
    for one in &said {
        hash.add(one);
    }
    format!("{:032X}", hash.0)
}

/// The hash function FNV-1a with 128 bits: the same in every build, which the one of the standard library need not be.
struct Fnv(u128);

impl Fnv {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(Self::PRIME);
        }
    }
}
