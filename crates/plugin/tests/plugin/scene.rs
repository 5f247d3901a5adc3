//! The scene: a server with Muster's definitions and a cluster, and the plugin on it.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use clap::Parser;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use muster_api::ReplicatedCluster;
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::{EventFault, Fault, Faults, Seen};
use muster_apiserver::watch::Event;
use muster_plugin::console::Console;
use muster_plugin::error::Failure;
use muster_plugin::{Arguments, Session, commands};
use serde_json::{Value, json};

/// Counts what is asked, and does once what it is told to the next request of a verb on clusters, or to the next event.
#[derive(Default)]
pub(crate) struct Trouble {
    counts: Mutex<Vec<&'static str>>,
    request: Mutex<Option<(&'static str, Fault)>>,
    event: Mutex<Option<EventFault>>,
}

impl Faults for Trouble {
    fn request(&self, request: &Seen) -> Fault {
        if !request.resource.ends_with("replicatedclusters") || request.subresource.is_some() {
            return Fault::None;
        }
        self.counts.lock().unwrap().push(request.verb);
        let mut next = self.request.lock().unwrap();
        let meant = next.as_ref().is_some_and(|(verb, _)| *verb == request.verb);
        next.take_if(|_| meant).map_or(Fault::None, |(_, fault)| fault)
    }

    fn event(&self, _: &Seen, _: &Event) -> EventFault {
        self.event.lock().unwrap().take().unwrap_or(EventFault::None)
    }
}

impl Trouble {
    pub(crate) fn fails(&self, verb: &'static str, fault: Fault) {
        *self.request.lock().unwrap() = Some((verb, fault));
    }

    pub(crate) fn spoils(&self, fault: EventFault) {
        *self.event.lock().unwrap() = Some(fault);
    }

    /// How often that was asked since the last time.
    pub(crate) fn count(&self, verb: &str) -> usize {
        let mut counts = self.counts.lock().unwrap();
        let found = counts.iter().filter(|one| **one == verb).count();
        counts.retain(|one| *one != verb);
        found
    }
}

pub(crate) struct Scene {
    pub(crate) client: Client,
    pub(crate) trouble: Arc<Trouble>,
}

/// How a run ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Result<(), Failure>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.outcome.as_ref().err().map_or(0, Failure::exit_code)
    }
}

#[derive(Clone, Default)]
struct Page(Rc<RefCell<Vec<u8>>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let trouble = Arc::new(Trouble::default());
        let server = Server::builder().faults(trouble.clone()).build().await;
        let client = Client::new(server, "default");
        for crd in muster_api::crds() {
            Api::all(client.clone()).create(&PostParams::default(), &crd).await.unwrap();
        }
        let scene = Self { client, trouble };
        let cluster = serde_json::from_value(json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": "orders"},
            "spec": {"engine": {"name": "ledger"}, "pools": [
                {"name": "a", "threshold": {"nodes": 1}, "storage": {"capacity": "1Gi"}}]},
        }));
        scene.clusters().create(&PostParams::default(), &cluster.unwrap()).await.unwrap();
        scene.trouble.count("create");
        scene
    }

    pub(crate) fn clusters(&self) -> Api<ReplicatedCluster> {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) async fn cluster(&self) -> ReplicatedCluster {
        self.clusters().get("orders").await.unwrap()
    }

    pub(crate) async fn status(&self, status: Value) {
        let patch = Patch::Merge(json!({"status": status}));
        self.clusters().patch_status("orders", &PatchParams::default(), &patch).await.unwrap();
    }

    /// Runs the plugin with these words, and with what a person answers, if one sits there.
    pub(crate) async fn run(&self, words: &str, answers: Option<&'static str>) -> Ended {
        let (out, err) = (Page::default(), Page::default());
        let arguments = Arguments::parse_from(["kubectl-muster"].into_iter().chain(words.split(' ')));
        let console = Console::to(Box::new(out.clone()), Box::new(err.clone()), answers);
        let session = Session::with_client(arguments.flags, console, self.client.clone());
        let outcome = commands::run(&arguments.command, &session).await;
        Ended { outcome, out: out.text(), err: err.text() }
    }
}

/// A status that says so of Ready.
pub(crate) fn ready(status: &str, generation: i64) -> Value {
    json!({"observedGeneration": generation, "conditions": [{"type": "Ready", "status": status, "reason": "AsDesired",
        "message": "", "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
}

/// Comes when this much of the paused time has passed, which it does as soon as everybody waits.
pub(crate) async fn after(duration: std::time::Duration) {
    let _ = tokio::time::timeout(duration, std::future::pending::<()>()).await;
}
