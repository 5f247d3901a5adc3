//! What must differ between two servers gets a name that does not: uids, versions, times, hashes, random endings.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Left out: what depends on the server, the writer or the moment.
const CHANCE: [&str; 11] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
    "lastTransitionTime",
    "lastUpdateTime",
    "selfLink",
    "clusterIP",
    "clusterIPs",
    "endpoints.kubernetes.io/last-change-trigger-time",
];

const HASHES: [&str; 2] = ["controller.kubernetes.io/hash", "pod-template-hash"];

/// The objects, kind by kind.
pub(crate) type Objects = BTreeMap<&'static str, Vec<Value>>;

/// The objects, with names in place of what is chance, in an order of their own.
pub(crate) fn normal(objects: &Objects) -> Value {
    let mut names = Vec::new();
    for object in objects.values().flatten() {
        let metadata = &object["metadata"];
        for label in HASHES {
            let number = match &metadata["annotations"]["deployment.kubernetes.io/revision"] {
                Value::Null => object["revision"].to_string(),
                number => number.to_string(),
            };
            if let Some(hash) = metadata["labels"][label].as_str()
                && number != "null"
            {
                names.push((hash.to_owned(), format!("<hash {number}>")));
            }
        }
        // Those of StatefulSets say so too, but have a number.
        let is_random = metadata["labels"]["statefulset.kubernetes.io/pod-name"].is_null();
        if let (Some(name), Some(start)) = (metadata["name"].as_str(), metadata["generateName"].as_str())
            && is_random
        {
            names.push((name.to_owned(), format!("{start}<random>")));
        }
    }
    // The longest first: the name of a Pod holds the hash of its ReplicaSet.
    names.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    let kinds = objects.iter().map(|(kind, objects)| {
        let mut objects: Vec<_> = objects.iter().map(|object| one(&names, kind, object)).collect();
        objects.sort_by_key(ToString::to_string);
        ((*kind).to_owned(), Value::Array(objects))
    });
    Value::Object(kinds.collect())
}

fn one(names: &[(String, String)], kind: &str, object: &Value) -> Value {
    let mut object = object.clone();
    // How many changes controllers make on their way is chance; that the last one was seen is not.
    if kind == "replicasets" {
        let seen = object["metadata"]["generation"] == object["status"]["observedGeneration"];
        object["metadata"]["generation"] = Value::Null;
        object["status"]["observedGeneration"] = seen.into();
    }
    if kind == "endpointslices" {
        object["metadata"]["generation"] = Value::Null;
    }
    rename(names, "", &object)
}

fn rename(names: &[(String, String)], key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (known, name) in names {
                text = text.replace(&**known, name);
            }
            // The name of what begins with a hash that is known by now.
            for (known, name) in names {
                text = text.replace(&**known, name);
            }
            text.into()
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| rename(names, key, item)).collect();
            if matches!(key, "conditions" | "ownerReferences" | "endpoints" | "ports") {
                items.sort_by_key(ToString::to_string);
            }
            items.into()
        }
        Value::Object(fields) => {
            let kept =
                fields.iter().filter(|(name, value)| !CHANCE.contains(&name.as_str()) && !value.is_null());
            let renamed = kept.map(|(name, value)| (name.clone(), rename(names, name, value)));
            // Where all annotations were chance there are none.
            let says = |value: &Value| value.as_object().is_none_or(|fields| !fields.is_empty());
            renamed.filter(|(name, value)| name != "annotations" || says(value)).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
