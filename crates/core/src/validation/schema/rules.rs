//! The CEL rules of the CRDs, each said again in Rust.

use muster_api::Quantity;
use muster_api::limits;
use muster_api::names::CLAIM_PREFIX;
use muster_api::rules::{self, CelRule};
use serde_json::Value;

/// A rule about a value, and about the value it replaces; rules that do not name `oldSelf` are given null for
/// it.
type Check = fn(&Value, &Value) -> bool;

/// Every rule and what it means.
const CHECKS: &[(CelRule, Check)] = &[
    (rules::QUANTITY_POSITIVE, |this, _| quantity(this).is_some_and(|amount| amount.is_positive())),
    (rules::CAPACITY_GROWS, |this, old| at_least(this, old)),
    (rules::CLUSTER_NAME, |this, _| named(this, limits::CLUSTER_NAME_MAX, |byte| byte.is_ascii_lowercase())),
    (rules::MEMBER_NAME, |this, _| named(this, limits::MEMBER_NAME_MAX, is_lower_or_digit)),
    (rules::ENGINE_NAME, |this, _| named(this, limits::ENGINE_NAME_MAX, is_lower_or_digit)),
    (rules::ENGINE_IMMUTABLE, |this, old| this == old),
    (rules::MEMBER_CLUSTER_IMMUTABLE, |this, old| this == old),
    (rules::MEMBER_POOL_IMMUTABLE, |this, old| this == old),
    (rules::PARAMETER_NAMES, |this, _| keys(this).all(parameter_name)),
    (rules::FILE_NAMES, |this, _| keys(this).all(file_name)),
    (rules::POOLS_TOTAL, |this, _| items(this).map(|pool| most(&pool["threshold"])).sum::<i64>() <= MEMBERS),
    (rules::THRESHOLD_GIVEN, |this, _| has(this, "nodes") || BOUNDS.iter().any(|bound| has(this, bound))),
    (rules::THRESHOLD_NODES_ALONE, |this, _| {
        !has(this, "nodes") || !BOUNDS.iter().any(|bound| has(this, bound))
    }),
    (rules::THRESHOLD_NODES_ORDER, |this, _| match (number(this, "minNodes"), number(this, "maxNodes")) {
        (Some(min), Some(max)) => min < max,
        _ => true,
    }),
    (rules::THRESHOLD_FREE_STORAGE_ORDER, |this, _| {
        !has(this, "freeStorageMin")
            || !has(this, "freeStorageMax")
            || !at_least(&this["freeStorageMin"], &this["freeStorageMax"])
    }),
    (rules::STORAGE_CLASS_IMMUTABLE, |this, old| same(this, old, "storageClassName")),
    (rules::CLAIM_OF_POOL_MEMBER, |this, _| claims(this).next().is_none() || is_pool_member(this)),
    (rules::CLAIM_NAME, |this, _| {
        let wanted = format!("{CLAIM_PREFIX}{}", text(&this["metadata"], "name"));
        claims(this).all(|storage| text(storage, "pvcName") == wanted)
    }),
    (rules::EXTERNAL_OR_STORAGE, |this, _| has(this, "external") != has(this, "storage")),
    (rules::EXTERNAL_IMMUTABLE, |this, old| has(this, "external") == has(old, "external")),
    (rules::DEVICE_OR_PVC, |this, _| has(this, "device") != has(this, "pvcName")),
    (rules::STORAGE_UNIQUE, |this, _| {
        let same_one =
            |a: &Value, b: &Value, field: &str| has(a, field) && has(b, field) && a[field] == b[field];
        let same_one = |a: &Value, b: &Value| same_one(a, b, "pvcName") || same_one(a, b, "device");
        items(this).all(|a| items(this).filter(|b| same_one(a, b)).count() == 1)
    }),
    (rules::CLAIM_GROWS, |this, old| {
        claims_in(old).all(|before| {
            let same = |after: &&Value| has(after, "pvcName") && after["pvcName"] == before["pvcName"];
            claims_in(this)
                .filter(same)
                .any(|after| at_least(&after["claim"]["capacity"], &before["claim"]["capacity"]))
        })
    }),
    (rules::CLAIM_CLASS_IMMUTABLE, |this, old| {
        claims_in(old).all(|before| {
            let same_one = |after: &&Value| has(after, "pvcName") && after["pvcName"] == before["pvcName"];
            claims_in(this)
                .filter(same_one)
                .all(|after| same(&after["claim"], &before["claim"], "storageClassName"))
        })
    }),
    (rules::ACKNOWLEDGED_COPIES, |this, _| match this.as_i64() {
        Some(count) => (1..=MEMBERS).contains(&count),
        None => this == "Majority",
    }),
    (rules::MAIN_GIVEN, |this, _| {
        items(&this["containers"]).any(|container| text(container, "name") == "main")
    }),
    (rules::IMAGES_GIVEN, |this, _| {
        let imaged = |version: &Value, container: &Value| {
            has(container, "image") || has(&version["images"], text(container, "name"))
        };
        items(&this["versions"])
            .all(|version| items(&this["template"]["containers"]).all(|container| imaged(version, container)))
    }),
    (rules::DRIVER_IMAGES_GIVEN, |this, _| {
        items(&this["template"]["containers"]).all(|container| has(container, "image"))
    }),
    (rules::CONTAINER_NAME_RESERVED, |this, _| !text(this, "name").starts_with("muster-")),
    (rules::ENV_ONE_SOURCE, |this, _| !has(this, "value") || !has(this, "secretKey")),
    (rules::ENV_NAME_RESERVED, |this, _| !text(this, "name").starts_with("MUSTER_")),
    (rules::PROBE_ONE_KIND, |this, _| exactly_one(this, &["exec", "httpGet", "tcpSocket"])),
    (rules::VOLUME_ONE_KIND, |this, _| exactly_one(this, &["emptyDir", "configMap", "secret"])),
    (rules::VOLUME_NAME_RESERVED, |this, _| {
        text(this, "name") != "data" && !text(this, "name").starts_with("muster-")
    }),
];

/// The bounds of a threshold, which `nodes` excludes.
const BOUNDS: [&str; 4] = ["minNodes", "maxNodes", "freeStorageMin", "freeStorageMax"];

/// The most members of a cluster.
const MEMBERS: i64 = limits::MAX_MEMBERS as i64;

/// Whether a rule, by its text, holds. A rule about a change holds where nothing is changed, and one that is
/// not known here refuses: a test sees to it that there is none.
pub(super) fn holds(rule: &str, this: &Value, old: Option<&Value>) -> bool {
    let Some((_, check)) = CHECKS.iter().find(|(known, _)| known.rule == rule) else {
        return false;
    };
    match old {
        None if rule.contains("oldSelf") => true,
        old => check(this, old.unwrap_or(&Value::Null)),
    }
}

/// Whether a rule has its counterpart here.
#[cfg(test)]
pub(super) fn is_known(rule: &str) -> bool {
    CHECKS.iter().any(|(known, _)| known.rule == rule)
}

/// CEL's `has()`: present, and not null.
fn has(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|found| !found.is_null())
}

/// Both have the field with the same value, or neither has it.
fn same(this: &Value, old: &Value, field: &str) -> bool {
    has(this, field) == has(old, field) && (!has(this, field) || this[field] == old[field])
}

fn exactly_one(this: &Value, fields: &[&str]) -> bool {
    fields.iter().filter(|field| has(this, field)).count() == 1
}

/// A whole number. YAML's 2.0 is sent as 2, so it is one.
fn number(value: &Value, field: &str) -> Option<i64> {
    let found = value.get(field)?;
    found.as_i64().or_else(|| found.as_f64().and_then(|number| format!("{number:.0}").parse().ok()))
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn keys(value: &Value) -> impl Iterator<Item = &str> {
    value.as_object().into_iter().flat_map(serde_json::Map::keys).map(String::as_str)
}

/// An integer or a string, as a quantity.
fn quantity(value: &Value) -> Option<Quantity> {
    serde_json::from_value(value.clone()).ok()
}

fn at_least(left: &Value, right: &Value) -> bool {
    matches!((quantity(left), quantity(right)), (Some(left), Some(right)) if left >= right)
}

/// The storage entries of a Member's spec that have a claim.
fn claims_in(spec: &Value) -> impl Iterator<Item = &Value> {
    items(&spec["storage"]).filter(|storage| has(storage, "claim"))
}

fn claims(member: &Value) -> impl Iterator<Item = &Value> {
    claims_in(&member["spec"])
}

/// The most members that a threshold lets a pool come to.
fn most(threshold: &Value) -> i64 {
    let by_storage = has(threshold, "freeStorageMin") || has(threshold, "freeStorageMax");
    let unbounded = if by_storage { i64::from(limits::DEFAULT_MAX_NODES) } else { 0 };
    let bound = number(threshold, "nodes").or_else(|| number(threshold, "maxNodes"));
    bound.unwrap_or_else(|| unbounded.max(number(threshold, "minNodes").unwrap_or(0)))
}

/// A DNS label of at most `longest` characters whose first one passes.
fn named(object: &Value, longest: u32, first: fn(u8) -> bool) -> bool {
    let name = text(&object["metadata"], "name").as_bytes();
    name.len() <= longest as usize
        && name.first().is_some_and(|byte| first(*byte))
        && name.last().is_some_and(|byte| is_lower_or_digit(*byte))
        && name.iter().all(|byte| is_lower_or_digit(*byte) || *byte == b'-')
}

fn is_lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Called `<clusterName>-<pool>-<ordinal>`.
fn is_pool_member(member: &Value) -> bool {
    let spec = &member["spec"];
    let prefix = format!("{}-{}-", text(spec, "clusterName"), text(spec, "pool"));
    let ordinal = text(&member["metadata"], "name").strip_prefix(&prefix);
    ordinal.is_some_and(|ordinal| {
        let digits = ordinal.bytes().all(|byte| byte.is_ascii_digit());
        digits && (1..=4).contains(&ordinal.len()) && (ordinal == "0" || !ordinal.starts_with('0'))
    })
}

fn parameter_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    (1..=limits::PARAMETER_NAME_MAX as usize).contains(&name.len())
        && name.starts_with(first)
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn file_name(name: &str) -> bool {
    (1..=limits::FILE_NAME_MAX as usize).contains(&name.len())
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}
