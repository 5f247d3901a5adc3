//! The verbs, through a client that was written for a real server.

use futures::{StreamExt, TryStreamExt};
use kube::api::{
    DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, Preconditions, WatchEvent,
    WatchParams,
};
use kube::{Client, Error, ResourceExt};
use muster_apiserver::server::Server;
use serde_json::json;

use crate::widgets::{server, widget, widgets};

fn code(error: &Error) -> (u16, String) {
    match error {
        Error::Api(status) => (status.code, status.reason.clone()),
        other => panic!("{other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_is_created_completed_read_and_replaced() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    let created = widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    assert_eq!(created.data["spec"], json!({"size": 1, "colour": "red"}));
    assert_eq!(created.metadata.generation, Some(1));
    assert!(created.metadata.uid.is_some() && created.metadata.managed_fields.is_some());
    assert_eq!(widgets.get("a").await.unwrap(), created);
    let again = widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap_err();
    assert_eq!(code(&again), (409, "AlreadyExists".to_owned()));

    let mut changed = created.clone();
    changed.data["spec"]["size"] = 2.into();
    let changed = widgets.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(changed.metadata.generation, Some(2));
    let stale = widgets.replace("a", &PostParams::default(), &created).await.unwrap_err();
    assert_eq!(code(&stale), (409, "Conflict".to_owned()));

    let invalid = widgets.create(&PostParams::default(), &widget("b", -1)).await.unwrap_err();
    assert_eq!(code(&invalid), (422, "Invalid".to_owned()));
    assert_eq!(code(&widgets.get("b").await.unwrap_err()), (404, "NotFound".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_full_store_takes_no_more_objects_and_lets_those_be_changed_that_it_has() {
    let (first, _) = server().await;
    let store = first.store().copy();
    let held: usize = store.stock().iter().map(|(_, count, _)| usize::try_from(*count).unwrap()).sum();
    let server = Server::builder().store(store.bounded(held + 1)).build().await;
    let widgets = widgets(&Client::new(server, "default"));
    let mut object = widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    let refused = widgets.create(&PostParams::default(), &widget("b", 1)).await.unwrap_err();
    assert_eq!(code(&refused), (500, "InternalError".to_owned()));
    assert!(refused.to_string().contains("objects, and takes no more"), "{refused}");
    object.data["spec"]["size"] = 2.into();
    widgets.replace("a", &PostParams::default(), &object).await.unwrap();
    widgets.delete("a", &DeleteParams::default()).await.unwrap();
    widgets.create(&PostParams::default(), &widget("b", 1)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn status_and_scale_have_paths_of_their_own() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    let mut object = widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    object.data["status"] = json!({"ready": true, "size": 1});
    object.data["spec"]["size"] = 9.into();
    let object = widgets.replace_status("a", &PostParams::default(), &object).await.unwrap();
    assert_eq!(object.data["status"]["ready"], true);
    assert_eq!((object.data["spec"]["size"].clone(), object.metadata.generation), (1.into(), Some(1)));
    let scale = widgets.get_scale("a").await.unwrap();
    assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(1));
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    widgets.patch_scale("a", &PatchParams::default(), &patch).await.unwrap();
    let scaled = widgets.get("a").await.unwrap();
    assert_eq!((scaled.data["spec"]["size"].clone(), scaled.metadata.generation), (3.into(), Some(2)));
}

#[tokio::test(start_paused = true)]
async fn patches_and_applies_change_what_they_say() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    let apply = Patch::Apply(widget("a", 1));
    let applied = widgets.patch("a", &PatchParams::apply("one"), &apply).await.unwrap();
    assert_eq!(applied.data["spec"], json!({"size": 1, "colour": "red"}));
    let other = Patch::Apply(widget("a", 2));
    let conflict = widgets.patch("a", &PatchParams::apply("two"), &other).await.unwrap_err();
    assert_eq!(code(&conflict), (409, "Conflict".to_owned()));
    let forced = widgets.patch("a", &PatchParams::apply("two").force(), &other).await.unwrap();
    assert_eq!(forced.data["spec"]["size"], 2);
    let merge = Patch::Merge(json!({"spec": {"colour": "blue"}}));
    let merged = widgets.patch("a", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(merged.data["spec"], json!({"size": 2, "colour": "blue"}));
    let same = widgets.patch("a", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(same.resource_version(), merged.resource_version(), "nothing changed, nothing is written");
}

#[tokio::test(start_paused = true)]
async fn lists_are_selected_and_come_in_pages() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    for name in ["a", "b", "c"] {
        widgets.create(&PostParams::default(), &widget(name, 1)).await.unwrap();
    }
    let patch = Patch::Merge(json!({"spec": {"colour": "blue"}, "metadata": {"labels": {"l": "v"}}}));
    widgets.patch("b", &PatchParams::default(), &patch).await.unwrap();
    let names = |list: &kube::core::ObjectList<DynamicObject>| -> Vec<String> {
        list.items.iter().map(ResourceExt::name_any).collect()
    };
    let first = widgets.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first.metadata.remaining_item_count, Some(1));
    widgets.create(&PostParams::default(), &widget("d", 1)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    let rest = widgets.list(&ListParams::default().limit(2).continue_token(&token)).await.unwrap();
    assert_eq!(names(&rest), ["c"], "a list is of one moment");
    assert_eq!(names(&widgets.list(&ListParams::default().labels("l=v")).await.unwrap()), ["b"]);
    let blue = ListParams::default().fields("spec.colour=blue");
    assert_eq!(names(&widgets.list(&blue).await.unwrap()), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_what_happens_from_a_version_on() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    let version = widgets.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    widgets.create(&PostParams::default(), &widget("b", 1)).await.unwrap();
    widgets.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Added(b))) if b.name_any() == "b"));
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Deleted(a))) if a.name_any() == "a"));
}

#[tokio::test(start_paused = true)]
async fn an_object_with_a_finalizer_ends_when_it_is_taken_away() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    let mut object = widget("a", 1);
    object.metadata.finalizers = Some(vec!["example.org/hold".into()]);
    let created = widgets.create(&PostParams::default(), &object).await.unwrap();
    let wrong = Preconditions { uid: Some("other".into()), resource_version: None };
    let params = DeleteParams { preconditions: Some(wrong), ..DeleteParams::default() };
    assert_eq!(code(&widgets.delete("a", &params).await.unwrap_err()).0, 409);
    let marked = widgets.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(marked.metadata.deletion_timestamp.is_some());
    assert_eq!(marked.metadata.uid, created.metadata.uid);
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    widgets.patch("a", &PatchParams::default(), &free).await.unwrap();
    assert_eq!(code(&widgets.get("a").await.unwrap_err()).0, 404);
}
