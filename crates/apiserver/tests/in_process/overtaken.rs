//! A creation that is overtaken by the end of its namespace or of its definition leaves nothing behind.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use jiff::Timestamp;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client, Error};
use muster_apiserver::lifecycle::Source;
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use muster_apiserver::store::{Expect, Key, Scope, Store};
use serde_json::{Value, json};

use crate::widgets::{crds, definition, read, widget, widgets};

/// What happens while an object is being made: when it gets its uid, everything that it rests on has been looked at.
type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

struct Interrupting {
    source: Seeded,
    meanwhile: Meanwhile,
}

impl Source for Interrupting {
    fn uid(&mut self) -> String {
        if let Some(happens) = self.meanwhile.lock().unwrap().take() {
            happens();
        }
        self.source.uid()
    }

    fn suffix(&mut self) -> String {
        self.source.suffix()
    }

    fn now(&mut self) -> Timestamp {
        self.source.now()
    }

    fn random(&mut self) -> u64 {
        self.source.random()
    }
}

struct Scene {
    store: Store,
    client: Client,
    meanwhile: Meanwhile,
}

impl Scene {
    async fn new() -> Self {
        let (store, meanwhile) = (Store::new(), Meanwhile::default());
        let source = Seeded::new(1, "2026-01-01T00:00:00Z".parse().unwrap());
        let source = Interrupting { source, meanwhile: meanwhile.clone() };
        let server = Server::builder().store(store.clone()).source(source).build().await;
        let client = Client::new(server, "default");
        crds(&client).create(&PostParams::default(), &read(definition())).await.unwrap();
        Self { store, client, meanwhile }
    }

    /// While the next object is made, this one is changed; None: it goes.
    fn meanwhile(&self, resource: &str, name: &str, change: Option<fn(&mut Value)>) {
        let (store, key) = (self.store.clone(), Key::new(&Arc::from(resource), "", name));
        *self.meanwhile.lock().unwrap() = Some(Box::new(move || {
            let found = store.get(&key).unwrap();
            let mut object = found.object.value();
            let written = match change {
                Some(change) => {
                    change(&mut object);
                    store.put(key, object, Expect::At(found.revision)).now_or_never()
                }
                None => store.remove(&key, object, found.revision).now_or_never(),
            };
            written.unwrap().unwrap();
        }));
    }

    fn left(&self, resource: &str) -> usize {
        self.store.list(&Scope { resource: Arc::from(resource), namespace: None }).objects.len()
    }
}

fn ending(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
}

fn labelled(object: &mut Value) {
    object["metadata"]["labels"] = json!({"a": "b"});
}

fn refusal(outcome: Result<DynamicObject, Error>) -> (u16, String, String) {
    match outcome {
        Err(Error::Api(status)) => (status.code, status.reason.clone(), status.message.clone()),
        other => panic!("{other:?}"),
    }
}

const DEFINITIONS: &str = "apiextensions.k8s.io/customresourcedefinitions";
const TERMINATING: &str = "widgets.example.org \"a\" is forbidden: unable to create new content in namespace \
    default because it is being terminated";

#[tokio::test(start_paused = true)]
async fn nothing_is_created_in_a_namespace_that_began_to_end() {
    let scene = Scene::new().await;
    scene.meanwhile("/namespaces", "default", Some(ending));
    let refused = refusal(widgets(&scene.client).create(&PostParams::default(), &widget("a", 1)).await);
    assert_eq!(refused, (403, "Forbidden".to_owned(), TERMINATING.to_owned()));
    assert_eq!(scene.left("example.org/widgets"), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_in_a_namespace_that_went() {
    let scene = Scene::new().await;
    scene.meanwhile("/namespaces", "default", None);
    let services: Api<k8s_openapi::api::core::v1::Service> = Api::default_namespaced(scene.client.clone());
    let service =
        serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}}));
    let Err(Error::Api(status)) = services.create(&PostParams::default(), &service.unwrap()).await else {
        panic!()
    };
    assert_eq!((status.code, status.message.as_str()), (404, "namespaces \"default\" not found"));
    assert_eq!(scene.left("/services"), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_of_a_definition_that_ends() {
    let scene = Scene::new().await;
    scene.meanwhile(DEFINITIONS, "widgets.example.org", Some(ending));
    let refused = refusal(widgets(&scene.client).create(&PostParams::default(), &widget("a", 1)).await);
    let why = "create not allowed while custom resource definition is terminating";
    let message = format!("widgets.example.org \"a\" is forbidden: {why}");
    assert_eq!(refused, (403, "Forbidden".to_owned(), message));
    assert_eq!(scene.left("example.org/widgets"), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_applied_of_a_definition_that_went() {
    let scene = Scene::new().await;
    scene.meanwhile(DEFINITIONS, "widgets.example.org", None);
    let apply = PatchParams::apply("me");
    let refused = refusal(widgets(&scene.client).patch("a", &apply, &Patch::Apply(widget("a", 1))).await);
    assert_eq!((refused.0, refused.1.as_str()), (404, "NotFound"));
    assert_eq!(scene.left("example.org/widgets"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_changes_and_stays_hinders_nothing() {
    let scene = Scene::new().await;
    for (index, (resource, name)) in
        [("/namespaces", "default"), (DEFINITIONS, "widgets.example.org")].into_iter().enumerate()
    {
        scene.meanwhile(resource, name, Some(labelled));
        let widget = widget(&format!("w{index}"), 1);
        widgets(&scene.client).create(&PostParams::default(), &widget).await.unwrap();
    }
    assert_eq!(scene.left("example.org/widgets"), 2);
}
