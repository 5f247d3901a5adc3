//! From what the real server serves, the documents by which it says so.

use muster_apiserver::discovery::{self, Part, Served};
use serde_json::{Value, json};

use crate::server::Server;

/// The resources of the real server, taken from its lists one version at a time.
fn served(server: &Server) -> Vec<Served> {
    let mut places = vec![(String::new(), "v1".to_owned(), "/api/v1".to_owned())];
    for group in groups(server)["groups"].as_array().unwrap() {
        let name = text(&group["name"]);
        for version in group["versions"].as_array().unwrap() {
            let version = text(&version["version"]);
            let path = format!("/apis/{name}/{version}");
            places.push((name.clone(), version, path));
        }
    }
    let mut all = Vec::new();
    for (group, version, path) in places {
        let list = server.get(&path);
        all.extend(read(&group, &version, list["resources"].as_array().unwrap()));
    }
    all
}

/// The groups of the real server.
fn groups(server: &Server) -> Value {
    let mut groups = server.get("/apis");
    without_others(&mut groups["groups"], "/name");
    groups
}

/// Takes away what other tests have defined meanwhile.
fn without_others(groups: &mut Value, name: &str) {
    let is_other = |group: &Value| group.pointer(name).is_some_and(|name| name == crate::custom::GROUP);
    groups.as_array_mut().unwrap().retain(|group| !is_other(group));
}

fn read(group: &str, version: &str, lines: &[Value]) -> Vec<Served> {
    let mut all: Vec<Served> = Vec::new();
    for line in lines {
        let (kind, verbs) = (text(&line["kind"]), texts(&line["verbs"]));
        let name = text(&line["name"]);
        if let Some((plural, part)) = name.split_once('/') {
            let parent = all.iter_mut().find(|one| one.plural == plural).unwrap();
            let (group, version) = (text(&line["group"]), text(&line["version"]));
            parent.parts.push(Part { name: part.into(), group, version, kind, verbs });
            continue;
        }
        all.push(Served {
            group: group.into(),
            version: version.into(),
            plural: name,
            singular: text(&line["singularName"]),
            kind,
            namespaced: line["namespaced"] == true,
            verbs,
            short_names: texts(&line["shortNames"]),
            categories: texts(&line["categories"]),
            storage_hash: text(&line["storageVersionHash"]),
            defined: group.ends_with(".example.org"),
            parts: Vec::new(),
        });
    }
    all.sort_by(|one, other| one.plural.cmp(&other.plural));
    all
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter().map(text).collect()
}

/// A definition whose versions are out of order, with all that a version can have.
fn define(server: &Server) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let parts =
        json!({"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let names = ["v1alpha1", "v1", "v2", "v1beta2", "v10", "odd", "v1beta1"];
    let versions: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "served": true, "storage": *name == "v1alpha1", "schema": schema, "subresources": parts}))
        .collect();
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lions.zoo.example.org"},
        "spec": {
            "group": "zoo.example.org",
            "scope": "Namespaced",
            "names": {"plural": "lions", "singular": "lion", "kind": "Lion", "shortNames": ["li"], "categories": ["all"]},
            "versions": versions,
        },
    });
    server.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd);
    server.wait_for("/apis/zoo.example.org/odd", "application/json", |answer| answer["resources"].is_array());
    server.wait_for("/apis", discovery::MEDIA_TYPE, |answer| answer.to_string().contains("\"odd\""));
    crd
}

#[test]
fn documents_are_those_of_the_real_server() {
    let server = Server::new();
    let crd = define(&server);
    let all = served(&server);

    assert_eq!(discovery::groups(&all), groups(&server));
    for group in groups(&server)["groups"].as_array().unwrap() {
        let name = text(&group["name"]);
        let ours = discovery::group(&all, &name).unwrap();
        assert_eq!(ours, server.get(&format!("/apis/{name}")));
        for version in texts_of(group) {
            let ours = discovery::resources(&all, &name, &version).unwrap();
            assert_eq!(ours, server.get(&format!("/apis/{name}/{version}")));
        }
    }
    assert_eq!(discovery::resources(&all, "", "v1").unwrap(), server.get("/api/v1"));
    for (path, core) in [("/api", true), ("/apis", false)] {
        let ours: Value = serde_json::from_str(&discovery::aggregated(&all, core).body).unwrap();
        let mut real = server.get_as(path, discovery::MEDIA_TYPE);
        without_others(&mut real["items"], "/metadata/name");
        assert_eq!(ours, real, "{path}");
    }

    // What a definition makes is told in the same way, down to the hash of the stored version.
    let definition = muster_apiserver::registry::Definition::read(&crd).unwrap();
    let mut made: Vec<Served> = definition.resources().iter().map(Served::from).collect();
    made.sort_by(|one, other| one.version.cmp(&other.version));
    let mut real: Vec<Served> = all.into_iter().filter(|one| one.plural == "lions").collect();
    real.sort_by(|one, other| one.version.cmp(&other.version));
    assert_eq!(made, real);
}

fn texts_of(group: &Value) -> Vec<String> {
    group["versions"].as_array().unwrap().iter().map(|version| text(&version["version"])).collect()
}

#[test]
fn the_version_has_the_same_fields_and_features() {
    let real = Server::new().get("/version");
    let ours = discovery::version();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&real));
    for field in ["major", "minor", "emulationMinor", "minCompatibilityMinor", "platform"] {
        assert_eq!(ours[field], real[field], "{field}");
    }
}
