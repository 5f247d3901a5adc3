//! The proxies that run follow the table: what it no longer has ends, what is new begins, the rest goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::Api;
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::addresses;
use super::proxy;
use super::table::{Entry, Key, Table, table};
use crate::control::{Events, reference};

/// After how long a place that could not be listened on is tried again: someone else may have left it.
const RETRY: Duration = Duration::from_secs(5);

/// A proxy that runs; it ends, with its connections, when this is dropped.
struct Running {
    entry: watch::Sender<Entry>,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What was seen last of a kind.
struct Seen<K> {
    objects: BTreeMap<Key, K>,
    /// What a watch that lists anew has shown so far.
    anew: BTreeMap<Key, K>,
    is_complete: bool,
}

impl<K: Resource> Seen<K> {
    fn new() -> Self {
        Self { objects: BTreeMap::new(), anew: BTreeMap::new(), is_complete: false }
    }

    fn take(&mut self, event: watcher::Event<K>) {
        let key = |object: &K| (object.namespace().unwrap_or_default(), object.name_any());
        match event {
            watcher::Event::Apply(object) => drop(self.objects.insert(key(&object), object)),
            watcher::Event::Delete(object) => drop(self.objects.remove(&key(&object))),
            watcher::Event::Init => self.anew.clear(),
            watcher::Event::InitApply(object) => drop(self.anew.insert(key(&object), object)),
            watcher::Event::InitDone => {
                self.objects = std::mem::take(&mut self.anew);
                self.is_complete = true;
            }
        }
    }
}

type Watch<K> = BoxStream<'static, Result<watcher::Event<K>, watcher::Error>>;

fn watch_all<K>(client: &Client) -> Watch<K>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    use kube::runtime::WatchStreamExt;
    watcher(Api::<K>::all(client.clone()), watcher::Config::default()).default_backoff().boxed()
}

/// Keeps the proxies of all Services until dropped.
pub(super) async fn run(client: Client) {
    let mut proxies = Proxies {
        running: BTreeMap::new(),
        failed: BTreeSet::new(),
        events: Events::new(client.clone(), "muster.dev/proxy"),
        warned: BTreeSet::new(),
    };
    let (mut services, mut slices) = (Seen::<Service>::new(), Seen::<EndpointSlice>::new());
    let (mut of_services, mut of_slices) =
        (watch_all::<Service>(&client), watch_all::<EndpointSlice>(&client));
    loop {
        let retry = async {
            if proxies.failed.is_empty() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(RETRY).await;
        };
        // What fails is watched anew by the watch itself, after a while.
        tokio::select! {
            event = of_services.next() => match event {
                Some(Ok(event)) => services.take(event),
                Some(Err(_)) => continue,
                None => return,
            },
            event = of_slices.next() => match event {
                Some(Ok(event)) => slices.take(event),
                Some(Err(_)) => continue,
                None => return,
            },
            () = retry => {}
        }
        // An incomplete picture would end connections that are well.
        if services.is_complete && slices.is_complete {
            proxies.follow(&table(services.objects.values(), &slices.objects), &services.objects).await;
        }
    }
}

struct Proxies {
    running: BTreeMap<SocketAddr, Running>,
    failed: BTreeSet<SocketAddr>,
    events: Events,
    /// What was said already, so that it is said once: place and text.
    warned: BTreeSet<(SocketAddr, String)>,
}

impl Proxies {
    async fn follow(&mut self, table: &Table, services: &BTreeMap<Key, Service>) {
        self.running.retain(|place, _| table.contains_key(place));
        self.failed.clear();
        self.warned.retain(|(place, _)| table.contains_key(place));
        for (place, entry) in table {
            if let Some(running) = self.running.get(place) {
                running.entry.send_if_modified(|known| {
                    let is_new = known != entry;
                    known.clone_from(entry);
                    is_new
                });
                continue;
            }
            match addresses::listen(*place).await {
                Ok(listener) => drop(self.running.insert(*place, begin(listener, entry.clone()))),
                Err(error) => {
                    self.failed.insert(*place);
                    self.warn(*place, services.get(&entry.service), &error).await;
                }
            }
        }
        let used: BTreeSet<_> = table.keys().map(SocketAddr::ip).collect();
        addresses::keep_only(&used).await;
    }

    async fn warn(&mut self, place: SocketAddr, service: Option<&Service>, error: &addresses::ListenError) {
        let text = error.to_string();
        if self.warned.insert((place, text.clone()))
            && let Some(service) = service
        {
            self.events.warn(&reference(service), "FailedToListen", text).await;
        }
    }
}

fn begin(listener: TcpListener, entry: Entry) -> Running {
    let (entry, followed) = watch::channel(entry);
    Running { entry, task: tokio::spawn(proxy::serve(listener, followed)) }
}
