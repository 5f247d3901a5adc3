//! Discovery one document at a time: versions, groups, one group, the resources of one version.

use serde_json::{Value, json};

use super::order::{by_group, by_version};
use super::served::{Part, Served};

/// `/api`: the versions of the core group, and where the server is found (`host:port`).
pub fn core_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// `/apis`: the groups, the core group apart.
pub fn groups(served: &[Served]) -> Value {
    let groups: Vec<Value> = names(served).into_iter().map(|name| about(served, name)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`; none when there is no such group.
pub fn group(served: &[Served], name: &str) -> Option<Value> {
    if name.is_empty() || !served.iter().any(|one| one.group == name) {
        return None;
    }
    let mut group = about(served, name);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Some(group)
}

/// `/api/v1` or `/apis/GROUP/VERSION`: the resources; none when there is no such version.
pub fn resources(served: &[Served], group: &str, version: &str) -> Option<Value> {
    let here: Vec<&Served> =
        served.iter().filter(|one| one.group == group && one.version == version).collect();
    if here.is_empty() {
        return None;
    }
    let group_version = join(group, version);
    let lines: Vec<Value> = here.into_iter().flat_map(lines).collect();
    let mut list = json!({"kind": "APIResourceList", "groupVersion": group_version, "resources": lines});
    // The real server leaves it out in the core group.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

/// `/`: the paths there are, besides those in `others`.
pub fn paths(served: &[Served], others: &[&str]) -> Value {
    let mut paths: Vec<String> = others.iter().map(|path| (*path).to_owned()).collect();
    paths.extend(["/api", "/apis", "/apis/"].map(str::to_owned));
    for one in served {
        if one.group.is_empty() {
            paths.push(format!("/api/{}", one.version));
        } else {
            paths.push(format!("/apis/{}", one.group));
            paths.push(format!("/apis/{}/{}", one.group, one.version));
        }
    }
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}

/// The names of the groups in their order, the core group apart.
pub(super) fn names(served: &[Served]) -> Vec<&str> {
    let mut names: Vec<&str> =
        served.iter().map(|one| one.group.as_str()).filter(|name| !name.is_empty()).collect();
    names.sort_by(|one, other| by_group(one, other));
    names.dedup();
    names
}

/// The versions of a group in their order.
pub(super) fn versions<'a>(served: &'a [Served], group: &str) -> Vec<&'a str> {
    let mut versions: Vec<&str> =
        served.iter().filter(|one| one.group == group).map(|one| one.version.as_str()).collect();
    versions.sort_by(|one, other| by_version(one, other));
    versions.dedup();
    versions
}

fn about(served: &[Served], name: &str) -> Value {
    let entry = |version: &&str| json!({"groupVersion": join(name, version), "version": version});
    let versions: Vec<Value> = versions(served, name).iter().map(entry).collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

fn join(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// A resource and its parts.
fn lines(one: &Served) -> Vec<Value> {
    let mut line = json!({
        "name": one.plural,
        "singularName": one.singular,
        "namespaced": one.namespaced,
        "kind": one.kind,
        "verbs": one.verbs,
    });
    if !one.short_names.is_empty() {
        line["shortNames"] = one.short_names.clone().into();
    }
    if !one.categories.is_empty() {
        line["categories"] = one.categories.clone().into();
    }
    if !one.storage_hash.is_empty() {
        line["storageVersionHash"] = one.storage_hash.clone().into();
    }
    std::iter::once(line).chain(one.parts.iter().map(|part| part_line(one, part))).collect()
}

fn part_line(one: &Served, part: &Part) -> Value {
    let mut line = json!({
        "name": format!("{}/{}", one.plural, part.name),
        "singularName": "",
        "namespaced": one.namespaced,
        "kind": part.kind,
        "verbs": part.verbs,
    });
    if !part.version.is_empty() {
        line["group"] = part.group.clone().into();
        line["version"] = part.version.clone().into();
    }
    line
}
