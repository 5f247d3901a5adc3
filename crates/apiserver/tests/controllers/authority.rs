//! The certificate of the server in every namespace. kube-controller-manager does so too; the one of other tests is not told
//! which certificate.

use serde_json::{Value, json};

use crate::ours::{CERTIFICATE, Ours};
use crate::world::World;

fn is_right(map: &Value) -> bool {
    let description = map["metadata"]["annotations"]["kubernetes.io/description"].as_str();
    map["data"] == json!({"ca.crt": CERTIFICATE})
        && description.is_some_and(|text| text.contains("kube-apiserver"))
}

#[test]
fn every_namespace_has_the_certificate() {
    let world = Ours::new();
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "new"}}));
    for namespace in ["default", "kube-system", "new"] {
        world.until_so(&format!("/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt"), &is_right);
    }
}

#[test]
fn it_is_set_right_and_made_again() {
    let world = Ours::new();
    let path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    world.until_so(path, &is_right);
    for wrong in [json!({"data": {"ca.crt": "x", "more": "y"}}), json!({"metadata": {"annotations": null}})] {
        world.send("PATCH", path, &wrong);
        world.until_so(path, &is_right);
    }
    let before = world.get(path)["metadata"]["uid"].clone();
    world.delete(path, "Background");
    world.until_so(path, &|map| is_right(map) && map["metadata"]["uid"] != before);
}

#[test]
fn a_namespace_ends_although_it_has_one() {
    let world = Ours::new();
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "ends"}}));
    world.until_so("/api/v1/namespaces/ends/configmaps/kube-root-ca.crt", &is_right);
    world.delete("/api/v1/namespaces/ends", "Background");
    world.until_gone("/api/v1/namespaces/ends");
}
