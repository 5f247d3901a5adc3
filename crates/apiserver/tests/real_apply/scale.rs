//! Writes through the `scale` subresource, and who owns replicas after them.

use jiff::Timestamp;
use muster_apiserver::apply::{
    FieldSet, ReplicasPaths, Typing, Typings, Write as By, apply, empty_object, merge_patch,
    owners_after_scale, scale_owners, track_update,
};
use serde_json::{Value, json};

use crate::built_in::{definitions, deployment};
use crate::kinds::Kind;
use crate::model::last_time;
use crate::random::Choices;
use crate::sequence::step;
use crate::server::{Request, Server, Write};

fn paths() -> ReplicasPaths {
    let path = FieldSet::of_names(&[&["spec", "replicas"]]).paths().remove(0);
    ReplicasPaths::from([("apps/v1".to_owned(), Some(path))])
}

/// The scale of a deployment, before a write.
fn scale_of(live: &Value) -> Value {
    let metadata = &live["metadata"];
    let owners = scale_owners(live, &paths()).unwrap();
    let mut scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": metadata["name"], "namespace": "default", "uid": metadata["uid"]},
        "spec": {"replicas": live["spec"]["replicas"]}, "status": {"replicas": 0, "selector": "a=b"},
    });
    if !owners.is_empty() {
        scale["metadata"]["managedFields"] = Value::Array(owners);
    }
    omit_zero(&mut scale);
    scale
}

/// No replicas are printed as none.
fn omit_zero(scale: &mut Value) {
    if scale["spec"]["replicas"] == 0 {
        scale["spec"] = json!({});
    }
}

/// The owners of the deployment after the write.
fn expected(
    definitions: &Value,
    live: &Value,
    request: &Request,
    now: Timestamp,
) -> Result<Vec<Value>, String> {
    let definitions = definitions.as_object().unwrap();
    let name = "io.k8s.api.autoscaling.v1.Scale";
    let typing = Typing::of_definition(name, definitions).unwrap();
    let by = By {
        typings: &Typings::from([("autoscaling/v1".to_owned(), typing)]),
        api_version: "autoscaling/v1",
        kind: "Scale",
        subresource: "scale",
        manager: &request.manager,
        reset: &FieldSet::new(),
        empty: &empty_object(name, definitions),
        now,
    };
    let scale = scale_of(live);
    let new = match &request.write {
        Write::Merge(patch) => {
            let mut new = merge_patch(&scale, patch).unwrap();
            omit_zero(&mut new);
            track_update(Some(&scale), new, &by)
        }
        Write::Apply { config, force } => {
            apply(Some(&scale), config, *force, &by).map_err(|error| error.to_string())?.object
        }
        other => panic!("{other:?}"),
    };
    owners_after_scale(live, &new, "apps/v1", &paths())
}

#[tokio::test]
async fn real_replicas_are_owned_the_same_through_scale() {
    let definitions = definitions("apis/apps/v1");
    let kind = Kind::of_definition("apps/v1", "Deployment", "deployments", &definitions);
    let server = Server::of(&kind, "scaled").await;
    let write = Write::Create(deployment("scaled"));
    let mut live = server.send(&Request { write, manager: "creator".into(), subresource: "" }).await.unwrap();
    let mut choices = Choices::new(1);
    for index in 0..60 {
        println!("step {index}"); // shown if it fails
        let manager = (*choices.of(&["creator", "one", "two"])).to_owned();
        let spec = json!({"replicas": choices.below(3)});
        let force = choices.once_in(2);
        if choices.once_in(3) {
            let mut config = deployment("scaled");
            config["spec"] = spec;
            let request = Request { write: Write::Apply { config, force }, manager, subresource: "" };
            live = step(&kind, &server, Some(&live), &request).await.unwrap_or(live);
            continue;
        }
        let write = if choices.once_in(2) {
            Write::Merge(json!({"spec": spec}))
        } else {
            let config = json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "scaled"}, "spec": spec,
            });
            Write::Apply { config, force }
        };
        let request = Request { write, manager, subresource: "scale" };
        let answer = server.send(&request).await;
        let nothing = Request { write: Write::Merge(json!({})), manager: "reader".into(), subresource: "" };
        let new = server.send(&nothing).await.unwrap();
        let now = last_time(&new).unwrap_or_else(Timestamp::now);
        let ours = expected(&definitions, &live, &request, now);
        let told = || format!("live: {live}\nrequest: {request:?}\nafter: {new}\nours: {ours:?}");
        match &answer {
            Ok(_) => {
                let owners = new["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
                assert!(ours == Ok(owners), "{}", told());
            }
            Err(theirs) => assert!(ours == Err(theirs.message.clone()), "{}\n{theirs:?}", told()),
        }
        live = new;
    }
}
