//! Pods.

use serde_json::{Value, json};

use crate::compare::{Words, change, compare, create, edited};
use crate::server::{Sides, Stays};
use crate::template_cases;

pub(crate) fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    })
}

#[tokio::test]
async fn pods_are_made_as_on_the_real_server() {
    let mut cases = template_cases::creations("/spec", Words::Same);
    cases.extend([
        create("image with space", json!({"/spec/containers/0/image": "a "})),
        create("ephemeral container", json!({"/spec/ephemeralContainers": [{"name": "e", "image": "a"}]})),
        create("gates", json!({"/spec/schedulingGates": [{"name": "example.org/wait"}]})),
        create("gates on a node", json!({"/spec/schedulingGates": [{"name": "a"}], "/spec/nodeName": "n"})),
        create("a priority of its own", json!({"/spec/priority": 5})),
        create("unknown class", json!({"/spec/priorityClassName": "none"})),
        create("critical", json!({"/spec/priorityClassName": "system-node-critical"})),
        create("other preemption", json!({"/spec/preemptionPolicy": "Never"})),
        create("token without account", json!({"/spec/volumes": [
            {"name": "a", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]})),
        create("short token", json!({"/spec/serviceAccountName": "a", "/spec/volumes": [
            {"name": "a", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 1}}]}}]})),
        create("a status of its own", json!({"/status": {"phase": "Running"}})),
        create("wrong host name", json!({"/spec/hostname": "A.b", "/spec/subdomain": "C_d"})),
    ]);
    compare(&Sides::new().await, &pod(), cases, Vec::new()).await;
}

#[tokio::test]
async fn pods_change_as_on_the_real_server() {
    let gated = json!({"/spec/schedulingGates": [{"name": "a.example.org/x"}]});
    let cases = vec![
        change("nothing", json!({})),
        change("image", json!({"/spec/containers/0/image": "nginx:2"})),
        change("no image", json!({"/spec/containers/0/image": null})),
        change("label", json!({"/metadata/labels": {"a": "b"}})),
        change("deadline", json!({"/spec/activeDeadlineSeconds": 5})),
        change("less deadline", json!({"/spec/activeDeadlineSeconds": 4}))
            .before(json!({"/spec/activeDeadlineSeconds": 5})),
        change("more deadline", json!({"/spec/activeDeadlineSeconds": 6}))
            .before(json!({"/spec/activeDeadlineSeconds": 5})),
        change("no deadline", json!({"/spec/activeDeadlineSeconds": null}))
            .before(json!({"/spec/activeDeadlineSeconds": 5})),
        change("another container", json!({"/spec/containers/1": {"name": "b", "image": "c"}})),
        change("command", json!({"/spec/containers/0/command": ["x"]})).loosely(),
        change("node", json!({"/spec/nodeName": "n"})).loosely(),
        change("restart policy", json!({"/spec/restartPolicy": "Never"})).loosely(),
        change("grace", json!({"/spec/terminationGracePeriodSeconds": 5})).loosely(),
        change("more tolerations", json!({"/spec/tolerations/9": {"key": "a", "operator": "Exists"}})),
        change("wrong toleration", json!({"/spec/tolerations/9": {"key": "a", "operator": "x"}})),
        change("fewer tolerations", json!({"/spec/tolerations": [{"key": "a", "operator": "Exists"}]})),
        change("seconds of a toleration", json!({"/spec/tolerations/0/tolerationSeconds": 5})),
        change("new gate", json!({"/spec/schedulingGates": [{"name": "b.example.org/x"}]})),
        change("no gate", json!({"/spec/schedulingGates": null})).before(gated.clone()),
        change("node of a gated one", json!({"/spec/nodeSelector": {"a": "b"}})).before(gated),
        change("priority left out", json!({"/spec/priority": null, "/spec/preemptionPolicy": null})),
        change("status", json!({"/status/phase": "Running"})).of_status(),
        change("no quality", json!({"/status/qosClass": null})).of_status(),
        change("other quality", json!({"/status/qosClass": "Guaranteed"})).of_status(),
    ];
    compare(&Sides::new().await, &pod(), Vec::new(), cases).await;
}

/// What is left of a Pod after its deletion was asked for, step by step.
#[tokio::test]
async fn pods_end_as_on_the_real_server() {
    let sides = Sides::new().await;
    let on_node = json!({"/spec/nodeName": "n"});
    let stories: Vec<(&str, Value, Vec<&str>)> = vec![
        ("nowhere", json!({}), vec![""]),
        (
            "somewhere",
            on_node.clone(),
            vec!["", "gracePeriodSeconds=60", "gracePeriodSeconds=5", "gracePeriodSeconds=0"],
        ),
        ("at once", on_node.clone(), vec!["gracePeriodSeconds=0"]),
        (
            "patient",
            json!({"/spec/nodeName": "n", "/spec/terminationGracePeriodSeconds": 90}),
            vec!["", "gracePeriodSeconds=0"],
        ),
        ("impatient", json!({"/spec/nodeName": "n", "/spec/terminationGracePeriodSeconds": 0}), vec![""]),
        (
            "held",
            json!({"/spec/nodeName": "n", "/metadata/finalizers": ["a.b/c"]}),
            vec!["", "gracePeriodSeconds=0"],
        ),
    ];
    for (name, edits, deletions) in stories {
        let mut told = Vec::new();
        for server in sides.of(&pod()) {
            let mut object = edited(&pod(), &edits);
            object["metadata"]["name"] = json!(name.replace(' ', "-"));
            server.create(&object, Stays::Yes).await.unwrap();
            let mut story = Vec::new();
            for deletion in &deletions {
                let answer = server.delete(&name.replace(' ', "-"), deletion).await;
                story.push(answer.map(|object| told_of(&object)).map_err(|refusal| refusal.code));
                let left = server.get(&name.replace(' ', "-")).await;
                story.push(left.map(|object| told_of(&object)).map_err(|refusal| refusal.code));
            }
            told.push(story);
        }
        assert_eq!(told[0], told[1], "{name}");
    }
}

fn told_of(object: &Value) -> Value {
    let metadata = &object["metadata"];
    json!({
        "kind": object["kind"], "grace": metadata["deletionGracePeriodSeconds"], "generation": metadata["generation"],
        "ends": !metadata["deletionTimestamp"].is_null(),
    })
}
