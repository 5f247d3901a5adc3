//! What takes several steps, and is disturbed between them: by another client, by a client that goes away, by the end of
//! the process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Error};
use muster_apiserver::server::Server;
use muster_apiserver::store::{Expect, Key, Store};
use serde_json::{Value, json};

use crate::widgets::{crds, definition, read, server, widget, widgets};

/// A directory that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("muster-in-process-{:032x}", rand::random::<u128>()));
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key() -> Key {
    Key::new(&"apiextensions.k8s.io/customresourcedefinitions".into(), "", "widgets.example.org")
}

/// Stores the definition as a process that ended in the middle left it.
async fn leave(store: &Store, change: impl Fn(&mut Value)) {
    let found = store.get(&key()).unwrap();
    let mut crd = found.object.value();
    change(&mut crd);
    store.put(key(), crd, Expect::At(found.revision)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_was_only_stored_is_served_after_a_restart() {
    let (server, client) = server().await;
    let store = server.store().clone();
    leave(&store, |crd| drop(crd.as_object_mut().unwrap().remove("status"))).await;
    drop((server, client));
    let server = Server::builder().store(store).build().await;
    let client = Client::new(server, "default");
    widgets(&client).create(&PostParams::default(), &widget("a", 1)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_was_only_marked_is_gone_after_a_restart() {
    let (server, client) = server().await;
    widgets(&client).create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    let store = server.store().clone();
    leave(&store, |crd| {
        crd["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        crd["metadata"]["finalizers"] = json!(["customresourcecleanup.apiextensions.k8s.io"]);
    })
    .await;
    drop((server, client));
    let server = Server::builder().store(store.clone()).build().await;
    assert!(store.get(&key()).is_none());
    assert!(store.get(&Key::new(&"example.org/widgets".into(), "default", "a")).is_none());
    let client = Client::new(server, "default");
    assert!(widgets(&client).list(&ListParams::default()).await.is_err());
}

#[tokio::test]
async fn a_write_is_done_to_its_end_though_its_client_goes_away() {
    let scratch = Scratch::new();
    let server = Server::builder().store(Store::open(scratch.path()).unwrap()).build().await;
    let client = Client::new(server.clone(), "default");
    {
        let (crds, crd, parameters) = (crds(&client), read(definition()), PostParams::default());
        let create = crds.create(&parameters, &crd);
        tokio::pin!(create);
        // Given up as soon as its first step is seen: what follows from it is still to be done.
        let before = server.store().revision();
        while server.store().revision() == before && create.as_mut().now_or_never().is_none() {
            tokio::task::yield_now().await;
        }
    }
    let is_known = async {
        while server.registry().find("example.org", "v1", "widgets").is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_known).await.unwrap();
}

#[tokio::test]
async fn two_applies_of_one_new_object_both_succeed() {
    let scratch = Scratch::new();
    let server = Server::builder().store(Store::open(scratch.path()).unwrap()).build().await;
    let client = Client::new(server, "default");
    crds(&client).create(&PostParams::default(), &read(definition())).await.unwrap();
    let widgets = widgets(&client);
    let apply = |manager: &'static str, colour: bool| {
        let widgets = widgets.clone();
        async move {
            let mut object = json!({
                "apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1},
            });
            if colour {
                object["spec"]["colour"] = "blue".into();
            }
            widgets.patch("a", &PatchParams::apply(manager), &Patch::Apply(object)).await
        }
    };
    let (one, other) = tokio::join!(apply("one", false), apply("other", true));
    one.unwrap();
    other.unwrap();
    assert_eq!(widgets.get("a").await.unwrap().data["spec"], json!({"size": 1, "colour": "blue"}));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_while_its_definition_goes() {
    let (_server, client) = server().await;
    let widgets = widgets(&client);
    let mut held = widget("held", 1);
    held.metadata.finalizers = Some(vec!["example.org/hold".to_owned()]);
    widgets.create(&PostParams::default(), &held).await.unwrap();
    crds(&client).delete("widgets.example.org", &DeleteParams::default()).await.unwrap();
    let refused = widgets.create(&PostParams::default(), &widget("late", 1)).await.unwrap_err();
    let Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    let why = "create not allowed while custom resource definition is terminating";
    assert_eq!(status.message, format!("widgets.example.org \"late\" is forbidden: {why}"));
}
