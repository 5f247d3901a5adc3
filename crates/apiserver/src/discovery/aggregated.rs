//! Aggregated discovery: everything in one document, with a tag by which clients need not read it twice.

use serde_json::{Value, json};

use super::classic::{names, versions};
use super::hash;
use super::served::{Part, Served};

/// The `Content-Type` of the document, and what a client accepts that asks for it.
pub const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The document and its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregated {
    /// The document, in JSON.
    pub body: String,
    /// Its `ETag`, quotes included. A client that sends it back in `If-None-Match` gets 304 and no body.
    pub tag: String,
}

/// What `/api` answers (`core`), or `/apis`, when [`MEDIA_TYPE`] is asked for.
pub fn aggregated(served: &[Served], core: bool) -> Aggregated {
    let groups = if core { vec![""] } else { names(served) };
    let items: Vec<Value> = groups.into_iter().map(|name| group(served, name)).collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    let body = list.to_string();
    let tag = hash::tag(body.as_bytes());
    Aggregated { body, tag }
}

fn group(served: &[Served], name: &str) -> Value {
    let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
    let versions: Vec<Value> =
        versions(served, name).into_iter().map(|version| one_version(served, name, version)).collect();
    json!({"metadata": metadata, "versions": versions})
}

fn one_version(served: &[Served], group: &str, version: &str) -> Value {
    let here = served.iter().filter(|one| one.group == group && one.version == version);
    let resources: Vec<Value> = here.map(resource).collect();
    json!({"version": version, "resources": resources, "freshness": "Current"})
}

fn resource(one: &Served) -> Value {
    let mut entry = json!({
        "resource": one.plural,
        "responseKind": kind(one, &one.kind),
        "scope": if one.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": one.singular,
        "verbs": one.verbs,
    });
    if !one.short_names.is_empty() {
        entry["shortNames"] = one.short_names.clone().into();
    }
    if !one.categories.is_empty() {
        entry["categories"] = one.categories.clone().into();
    }
    if !one.parts.is_empty() {
        entry["subresources"] = one.parts.iter().map(|part| subresource(one, part)).collect();
    }
    entry
}

fn subresource(one: &Served, part: &Part) -> Value {
    let kind = if part.version.is_empty() {
        kind(one, &part.kind)
    } else {
        json!({"group": part.group, "version": part.version, "kind": part.kind})
    };
    json!({"subresource": part.name, "responseKind": kind, "verbs": part.verbs})
}

fn kind(one: &Served, kind: &str) -> Value {
    let (group, version) = if one.defined { (one.group.as_str(), one.version.as_str()) } else { ("", "") };
    json!({"group": group, "version": version, "kind": kind})
}
