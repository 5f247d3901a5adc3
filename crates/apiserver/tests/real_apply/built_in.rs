//! Applies and strategic merge patches to built-in kinds, typed and keyed by what the server itself publishes.

use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::random::Choices;
use crate::sequence::step;
use crate::server::{Request, Server, Write, plane};

pub(crate) fn definitions(group_version: &str) -> Value {
    let output = plane().kubectl(&["get", "--raw", &format!("/openapi/v3/{group_version}")]).unwrap();
    let published: Value = serde_json::from_slice(&output.stdout).unwrap();
    published["components"]["schemas"].clone()
}

/// The least that the server adds defaults to, so that what is compared later has them all.
pub(crate) fn deployment(name: &str) -> Value {
    let container = |name: &str| json!({"name": name, "image": "i:0"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [container("main"), container("side")]},
            },
        },
    })
}

struct Changes(Choices);

impl Changes {
    fn some<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        all.iter().filter(|_| self.0.once_in(2)).cloned().collect()
    }

    /// Items of a list, sometimes marked to be deleted.
    fn items(&mut self, all: &[Value], key: &str, marks: bool) -> Vec<Value> {
        let mut items = self.some(all);
        for item in &mut items {
            if marks && self.0.once_in(4) {
                *item = json!({"$patch": "delete", key: item[key]});
            }
        }
        if marks && self.0.once_in(10) {
            items.push(json!({"$patch": "replace"}));
        }
        items
    }

    fn container(&mut self, name: &str, marks: bool) -> Value {
        let mut container = json!({"name": name});
        if self.0.once_in(2) {
            container["image"] = json!(format!("i:{}", self.0.below(2)));
        }
        if self.0.once_in(2) {
            let value = format!("{}", self.0.below(2));
            let env = ["X", "Y", "Z"].map(|name| json!({"name": name, "value": value}));
            let env = self.items(&env, "name", marks);
            if marks && self.0.once_in(3) {
                container["$setElementOrder/env"] = json!([{"name": "Z"}, {"name": "Y"}, {"name": "X"}]);
            }
            container["env"] = Value::Array(env);
        }
        if self.0.once_in(2) {
            let ports = [1, 2, 3].map(|port| json!({"containerPort": port, "protocol": "TCP"}));
            container["ports"] = Value::Array(self.items(&ports, "containerPort", marks));
        }
        if self.0.once_in(3) {
            container["args"] = json!([format!("{}", self.0.below(3))]);
        }
        container
    }

    fn template(&mut self, marks: bool) -> Value {
        let containers: Vec<_> = self.some(&["main", "side"]);
        let containers: Vec<_> = containers.into_iter().map(|name| self.container(name, marks)).collect();
        let mut spec = json!({});
        if !containers.is_empty() {
            spec["containers"] = Value::Array(containers);
        }
        if self.0.once_in(3) {
            let volumes = ["v", "w"].map(|name| json!({"name": name, "emptyDir": {}}));
            spec["volumes"] = Value::Array(self.items(&volumes, "name", marks));
        }
        if self.0.once_in(3) {
            spec["tolerations"] = json!([{"key": *self.0.of(&["t", "u"]), "operator": "Exists"}]);
        }
        json!({"spec": spec})
    }

    fn patch(&mut self) -> Value {
        let mut patch = json!({"spec": {"template": self.template(true)}});
        match self.0.below(6) {
            0 => patch["metadata"]["labels"] = json!({"l": "1", "m": null}),
            1 => patch["metadata"]["finalizers"] = json!(["muster.dev/a", "muster.dev/b"]),
            2 => patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = json!(["muster.dev/a"]),
            3 => patch["spec"]["strategy"] = json!({"$retainKeys": ["type"], "type": "Recreate"}),
            4 => patch["metadata"]["managedFields"] = json!([]),
            _ => {}
        }
        patch
    }

    fn request(&mut self, name: &str) -> Request {
        let manager = (*self.0.of(&["one", "two"])).to_owned();
        let write = if self.0.once_in(2) {
            Write::Strategic(self.patch())
        } else {
            let mut config = deployment(name);
            config["spec"] = json!({"template": self.template(false)});
            Write::Apply { config, force: self.0.once_in(2) }
        };
        Request { write, manager, subresource: "" }
    }
}

/// Creates the object with all defaults spelled out, which another one is created for first.
async fn created(kind: &Kind, server: &Server, mut object: Value) -> Value {
    let create =
        |object| Request { write: Write::Create(object), manager: "creator".into(), subresource: "" };
    let mut other = object.clone();
    other["metadata"] = json!({"generateName": "other-"});
    let answer = server.send(&create(other)).await.unwrap();
    object["spec"] = answer["spec"].clone();
    object["status"] = json!({});
    step(kind, server, None, &create(object)).await.unwrap()
}

#[tokio::test]
async fn real_deployments_are_patched_and_owned_the_same() {
    let kind = Kind::of_definition("apps/v1", "Deployment", "deployments", &definitions("apis/apps/v1"));
    for seed in 1..=4 {
        let name = format!("deployment-{seed}");
        let server = Server::of(&kind, &name).await;
        let mut live = created(&kind, &server, deployment(&name)).await;
        let mut changes = Changes(Choices::new(seed));
        for index in 0..40 {
            println!("{name}, step {index}"); // shown if it fails
            let request = changes.request(&name);
            live = step(&kind, &server, Some(&live), &request).await.unwrap_or(live);
        }
    }
}

#[tokio::test]
async fn real_config_maps_are_patched_and_owned_the_same() {
    let kind = Kind::of_definition("v1", "ConfigMap", "configmaps", &definitions("api/v1"));
    let mut choices = Choices::new(1);
    let server = Server::of(&kind, "map").await;
    let mut live: Option<Value> = None;
    for _ in 0..60 {
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}});
        for key in ["x", "y", "z"] {
            if choices.once_in(2) {
                object["data"][key] = json!(*choices.of(&["1", "<2>"]));
            }
        }
        let write = match (choices.below(4), live.is_some()) {
            (0, true) => Write::Strategic(json!({"data": {"x": null, "y": "3"}})),
            (1, true) => Write::Merge(json!({"data": object["data"], "metadata": {"labels": {"l": null}}})),
            _ => Write::Apply { config: object, force: choices.once_in(2) },
        };
        let manager = (*choices.of(&["one", "two", "three"])).to_owned();
        let request = Request { write, manager, subresource: "" };
        if let Some(new) = step(&kind, &server, live.as_ref(), &request).await {
            live = Some(new);
        }
    }
}
