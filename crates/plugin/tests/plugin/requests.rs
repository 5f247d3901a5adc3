//! Requests: written once, for what was seen, whatever happens on the way.

use std::time::Duration;

use muster_apiserver::server::faults::Fault;
use serde_json::{Value, json};

use crate::scene::{Scene, after};

async fn request(scene: &Scene) -> Option<Value> {
    let annotations = scene.cluster().await.metadata.annotations.unwrap_or_default();
    annotations.get("muster.dev/request").map(|text| serde_json::from_str(text).unwrap())
}

#[tokio::test(start_paused = true)]
async fn others_that_write_other_things_do_not_hold_it_up() {
    let scene = Scene::new().await;
    scene.trouble.fails("patch", Fault::Conflict);
    let ended = scene.run("switchover orders --no-wait", None).await;
    assert_eq!(ended.code(), 0, "{ended:?}");
    assert_eq!(request(&scene).await.unwrap()["action"], "switchover");
    assert_eq!(scene.trouble.count("patch"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_got_lost_is_not_repeated() {
    let scene = Scene::new().await;
    scene.trouble.fails("patch", Fault::LostAfter);
    let ended = scene.run("switchover orders --no-wait", None).await;
    assert_eq!(ended.code(), 0, "{ended:?}");
    assert_eq!(scene.trouble.count("patch"), 1);
    let id = request(&scene).await.unwrap()["id"].as_str().unwrap().to_owned();
    assert!(ended.err.contains(&id), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_never_arrived_is_told() {
    let scene = Scene::new().await;
    scene.trouble.fails("patch", Fault::LostBefore);
    let ended = scene.run("switchover orders --no-wait", None).await;
    assert_eq!(ended.code(), 1, "{ended:?}");
    assert_eq!(request(&scene).await, None);
}

#[tokio::test(start_paused = true)]
async fn only_a_person_who_says_yes_loses_data() {
    let scene = Scene::new().await;
    for answer in ["no\n", "\n", "y\n"] {
        let ended = scene.run("forget orders orders-a-9 --no-wait", Some(answer)).await;
        assert_eq!((ended.code(), request(&scene).await), (4, None), "{ended:?}");
        assert!(ended.err.contains("orders-a-9 of orders are given up for good"), "{ended:?}");
    }
    let ended = scene.run("forget orders orders-a-9 --no-wait", Some("yes\n")).await;
    assert_eq!(ended.code(), 0, "{ended:?}");
    assert_eq!(request(&scene).await.unwrap()["members"], json!(["orders-a-9"]));
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_goes_takes_its_requests_with_it() {
    let scene = Scene::new().await;
    let delete = async {
        after(Duration::from_secs(30)).await;
        scene.clusters().delete("orders", &kube::api::DeleteParams::default()).await.unwrap();
    };
    let (ended, ()) = tokio::join!(scene.run("switchover orders", None), delete);
    assert_eq!(ended.code(), 4, "{ended:?}");
    assert!(ended.outcome.unwrap_err().to_string().contains("was deleted before"));
}
