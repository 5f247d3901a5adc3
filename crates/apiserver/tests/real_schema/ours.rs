//! The CRDs of this repository, with objects that are nearly right.

use serde_json::{Map, Value, json};

use crate::server::{Differences, Server, compiled, manifest, our_answer, path_of};

/// Changes of one manifest that are tried, spread over all of them, so that large ones do not take all the time.
const MAX_CHANGES: usize = 400;

/// Every path in a value.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                paths(field, &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                paths(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Values that may be put in the place of another.
fn replacements(value: &Value) -> Vec<Value> {
    let mut all = vec![json!("x"), json!(7), json!(true), Value::Null, json!([]), json!({}), json!("")];
    match value {
        Value::String(text) => {
            all.extend([json!(format!("{text} ")), json!(text.repeat(60)), json!(text.to_uppercase())]);
        }
        Value::Number(number) => {
            all.extend([json!(-1), json!(100_000), json!(number.as_f64().unwrap() + 0.5)]);
        }
        Value::Array(items) => {
            let mut twice = items.clone();
            twice.extend(items.clone());
            all.push(json!(twice));
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("nobodyKnowsThis".to_owned(), json!(1));
            all.push(Value::Object(more));
        }
        _ => {}
    }
    all
}

/// The object with each of its parts changed in each way, or taken away.
fn changes(object: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    paths(&object["spec"], "/spec", &mut found);
    let mut changed = Vec::new();
    for path in found {
        for replacement in replacements(object.pointer(&path).unwrap()) {
            let mut object = object.clone();
            *object.pointer_mut(&path).unwrap() = replacement;
            changed.push(object);
        }
        let (parent, name) = path.rsplit_once('/').unwrap();
        let mut object = object.clone();
        if let Some(Value::Object(fields)) = object.pointer_mut(parent) {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
            changed.push(object);
        }
    }
    let step = changed.len().div_ceil(MAX_CHANGES);
    changed.into_iter().step_by(step).collect()
}

fn compare(crd: &str, manifests: &[&str]) {
    let server = Server::new();
    let definition = manifest(&format!("deploy/crds/{crd}.yaml"));
    server.install(&definition);
    let (schema, path) = (compiled(&definition), path_of(&definition));
    let mut differences = Differences::default();
    for name in manifests {
        let mut object = manifest(&format!("crates/api/tests/manifests/{name}.yaml"));
        object.as_object_mut().unwrap().remove("status");
        object["metadata"].as_object_mut().map(|metadata: &mut Map<_, _>| metadata.remove("namespace"));
        assert!(
            our_answer(&schema, &object, None).is_ok(),
            "{name}: {:?}",
            our_answer(&schema, &object, None)
        );
        for object in changes(&object) {
            let ours = our_answer(&schema, &object, None);
            differences.compare(&object["spec"], &ours, &server.create(&path, &object, true));
        }
    }
    differences.assert_none(50);
}

#[test]
fn real_clusters_are_accepted_and_refused_the_same() {
    compare("replicatedclusters", &["cluster-small", "cluster-galera"]);
}

#[test]
fn real_members_are_accepted_and_refused_the_same() {
    compare("members", &["member-devices", "member-external", "member-pool"]);
}

#[test]
fn real_engines_are_accepted_and_refused_the_same() {
    compare("replicationengines", &["engine-ledger"]);
}
