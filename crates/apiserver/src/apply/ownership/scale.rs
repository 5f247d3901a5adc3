//! Who owns `replicas`, seen through the `scale` subresource and back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::entries::{Managed, ManagedEntry, decode, encoded};
use crate::apply::fields::{FieldSet, Path};

/// The version of what the subresource shows.
const SCALE_VERSION: &str = "autoscaling/v1";

/// Where the replicas of a kind are, by `apiVersion`; none in a version without the subresource.
pub type ReplicasPaths = BTreeMap<String, Option<Path>>;

fn replicas_of_scale() -> FieldSet {
    FieldSet::of_names(&[&["spec", "replicas"]])
}

fn only(path: &Path) -> FieldSet {
    let mut set = FieldSet::new();
    set.insert(path);
    set
}

/// The `managedFields` of an object's scale: those who own its replicas. Note that a scale of 0 has no
/// `spec.replicas` on the server, so that who applies 0 there conflicts with who owns it.
pub fn scale_owners(object: &Value, paths: &ReplicasPaths) -> Result<Vec<Value>, String> {
    let owns = |entry: &ManagedEntry| {
        let path = paths.get(&entry.api_version).and_then(Option::as_ref);
        path.is_some_and(|path| entry.fields.has(path))
    };
    let seen = decode(object)?.into_iter().filter(|(_, entry)| owns(entry));
    let seen: Managed = seen
        .map(|(identity, entry)| {
            let scale =
                ManagedEntry { api_version: SCALE_VERSION.into(), fields: replicas_of_scale(), ..entry };
            (identity, scale)
        })
        .collect();
    Ok(encoded(&seen))
}

/// The `managedFields` of an object after its scale was written in this version of the object.
pub fn owners_after_scale(
    object: &Value,
    scale: &Value,
    api_version: &str,
    paths: &ReplicasPaths,
) -> Result<Vec<Value>, String> {
    let mut scale = decode(scale)?;
    let before = decode(object)?;
    let mut after = Managed::new();
    for (identity, entry) in &before {
        let Some(path) = paths.get(&entry.api_version) else { continue };
        let owned = path.as_ref().filter(|path| entry.fields.has(path));
        let fields = match owned {
            // Nobody took it, or there is nothing to take.
            None => entry.fields.clone(),
            Some(_) if scale.remove(identity).is_some() => entry.fields.clone(),
            Some(path) => entry.fields.difference(&only(path)),
        };
        if !fields.is_empty() {
            after.insert(identity.clone(), ManagedEntry { fields, ..entry.clone() });
        }
    }
    let path = paths.get(api_version).and_then(Option::as_ref);
    for (identity, entry) in scale {
        let (Some(path), true) = (path, !entry.fields.intersection(&replicas_of_scale()).is_empty()) else {
            continue;
        };
        // The server looks for the time among those who owned fields before, and so has none for a newcomer.
        let time = before.get(&identity).and_then(|entry| entry.time);
        after.insert(
            identity,
            ManagedEntry { fields: only(path), api_version: api_version.into(), time, ..entry },
        );
    }
    Ok(encoded(&after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owner(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
            "fieldsV1": fields, "time": "2026-01-01T00:00:00Z",
        })
    }

    fn object(owners: &[Value]) -> Value {
        json!({"metadata": {"managedFields": owners}})
    }

    fn paths() -> ReplicasPaths {
        let path = FieldSet::of_names(&[&["spec", "count"]]).paths().remove(0);
        ReplicasPaths::from([("example.dev/v1".into(), Some(path)), ("example.dev/v2".into(), None)])
    }

    #[test]
    fn a_scale_is_owned_by_those_who_own_the_replicas() {
        let counts = owner("one", "Apply", "example.dev/v1", &json!({"f:spec": {"f:count": {}, "f:a": {}}}));
        let other = owner("two", "Apply", "example.dev/v1", &json!({"f:spec": {"f:a": {}}}));
        let elsewhere = owner("three", "Apply", "example.dev/v2", &json!({"f:spec": {"f:count": {}}}));
        let expected = owner("one", "Apply", "autoscaling/v1", &json!({"f:spec": {"f:replicas": {}}}));
        assert_eq!(scale_owners(&object(&[counts, other, elsewhere]), &paths()), Ok(vec![expected]));
    }

    #[test]
    fn whoever_scales_takes_the_replicas_and_nothing_else() {
        let fields = json!({"f:spec": {"f:count": {}, "f:a": {}}});
        let live = object(&[
            owner("one", "Apply", "example.dev/v1", &fields),
            owner("gone", "Apply", "example.dev/v0", &fields),
        ]);
        let scale =
            object(&[owner("hpa", "Update", "autoscaling/v1", &json!({"f:spec": {"f:replicas": {}}}))]);
        let after = owners_after_scale(&live, &scale, "example.dev/v1", &paths()).unwrap();
        let mut taken = owner("hpa", "Update", "example.dev/v1", &json!({"f:spec": {"f:count": {}}}));
        taken.as_object_mut().unwrap().remove("time");
        assert_eq!(after, [owner("one", "Apply", "example.dev/v1", &json!({"f:spec": {"f:a": {}}})), taken]);
    }

    #[test]
    fn who_keeps_the_replicas_keeps_its_entry() {
        let entry = owner("one", "Apply", "example.dev/v1", &json!({"f:spec": {"f:count": {}, "f:a": {}}}));
        let live = object(std::slice::from_ref(&entry));
        let scale = object(&scale_owners(&live, &paths()).unwrap());
        assert_eq!(owners_after_scale(&live, &scale, "example.dev/v1", &paths()), Ok(vec![entry]));
    }
}
