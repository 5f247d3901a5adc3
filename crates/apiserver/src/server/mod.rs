//! The server itself: requests in, answers out. It has no socket: a `kube::Client` calls it as a tower Service, and
//! [`crate::serve`] puts it on one.
//!
//! A request goes in a straight line: [`route`] finds what it is about, [`read`], [`create`], [`modify`] or [`delete`]
//! does it, and [`answer`] puts the outcome into the form that the client asked for.

mod accept;
mod answer;
mod around;
mod binding;
mod body;
mod call;
mod claims;
mod counting;
mod create;
pub(crate) mod decode;
mod definitions;
mod delete;
mod describing;
mod endpoints;
pub mod faults;
mod given;
mod grounds;
mod incoming;
mod list;
mod list_body;
mod logs;
mod modify;
mod namespaces;
mod objects;
mod options;
mod own;
mod patch;
mod read;
mod route;
mod scale;
mod scale_sent;
mod scaled;
mod shown;
pub mod source;
mod watching;

use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};

pub use self::body::{Body, MAX_BODY_BYTES};
use self::describing::Descriptions;
use self::faults::{ConnectionLost, Faults, NoFaults};
use self::given::GivenOut;
pub use self::logs::{LogWanted, Logs, Reading, Said};
use self::source::System;
pub use crate::kind::ServiceNetwork;
use crate::lifecycle::Source;
use crate::metrics::Metrics;
use crate::registry::Registry;
pub use crate::reviews::User;
use crate::store::Store;

/// An API server. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    store: Store,
    registry: Registry,
    source: Mutex<Box<dyn Source + Send>>,
    faults: Arc<dyn Faults>,
    requests: AtomicU64,
    metrics: Metrics,
    descriptions: Mutex<Descriptions>,
    /// Held from the choice of what is given out once, such as an address, until it is stored.
    allocating: tokio::sync::Mutex<()>,
    given: Mutex<GivenOut>,
    service_network: ServiceNetwork,
    /// Who reads the logs of containers; nobody before that is said.
    logs: OnceLock<Arc<dyn Logs>>,
}

/// How a server is put together.
pub struct Builder {
    store: Store,
    /// What is served, where that is known already.
    registry: Option<Registry>,
    source: Box<dyn Source + Send>,
    faults: Arc<dyn Faults>,
    service_network: ServiceNetwork,
}

impl Builder {
    /// Where objects are kept; in memory if nothing is said.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// Begins with all that this server holds and serves, and goes its own way from there: what a definition takes to be
    /// read is done once for many servers.
    #[must_use]
    pub fn like(mut self, other: &Server) -> Self {
        self.store = other.store().copy();
        self.registry = Some(other.registry().copy());
        self
    }

    /// Where ids and times come from; from the system if nothing is said.
    #[must_use]
    pub fn source(mut self, source: impl Source + Send + 'static) -> Self {
        self.source = Box::new(source);
        self
    }

    /// The network that Services have their addresses from; 10.0.0.0/24 if nothing is said. Services that were given an
    /// address before keep it.
    #[must_use]
    pub fn service_network(mut self, network: ServiceNetwork) -> Self {
        self.service_network = network;
        self
    }

    /// What goes wrong; nothing if nothing is said.
    #[must_use]
    pub fn faults(mut self, faults: Arc<dyn Faults>) -> Self {
        self.faults = faults;
        self
    }

    /// The server, with the namespaces that are always there.
    pub async fn build(self) -> Server {
        let is_known = self.registry.is_some();
        let inner = Inner {
            store: self.store,
            registry: self.registry.unwrap_or_default(),
            source: Mutex::new(self.source),
            faults: self.faults,
            requests: AtomicU64::new(0),
            metrics: Metrics::default(),
            descriptions: Mutex::default(),
            allocating: tokio::sync::Mutex::default(),
            given: Mutex::default(),
            service_network: self.service_network,
            logs: OnceLock::new(),
        };
        let server = Server(Arc::new(inner));
        if is_known {
            return server;
        }
        server.serve_built_in();
        server.serve_stored_definitions().await;
        server.create_first_namespaces().await;
        server
    }
}

impl Server {
    /// Puts a server together.
    pub fn builder() -> Builder {
        Builder {
            store: Store::new(),
            registry: None,
            source: Box::new(System::new()),
            faults: Arc::new(NoFaults),
            service_network: ServiceNetwork::default(),
        }
    }

    /// Where objects are kept.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// What is served.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    fn faults(&self) -> &Arc<dyn Faults> {
        &self.0.faults
    }

    fn source(&self) -> SourceGuard<'_> {
        SourceGuard(self.0.source.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The source of ids and times, for as long as it is needed.
struct SourceGuard<'a>(MutexGuard<'a, Box<dyn Source + Send>>);

impl Source for SourceGuard<'_> {
    fn uid(&mut self) -> String {
        self.0.uid()
    }

    fn suffix(&mut self) -> String {
        self.0.suffix()
    }

    fn now(&mut self) -> jiff::Timestamp {
        self.0.now()
    }

    fn random(&mut self) -> u64 {
        self.0.random()
    }
}

/// Says of a request that whoever calls the server with it waits for its end, whatever becomes of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoneToItsEnd;

/// The answer that is on its way.
type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, ConnectionLost>> + Send>>;

impl<B> tower_service::Service<Request<B>> for Server
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = ConnectionLost;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionLost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let server = self.clone();
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let cared_for = request.extensions().get::<DoneToItsEnd>().is_some();
        let answer = async move { server.handle(request).await };
        if reads || cared_for {
            return Box::pin(answer);
        }
        // What changes something is done to its end, even if the client goes away.
        Box::pin(async move {
            match tokio::spawn(answer).await {
                Ok(answer) => answer,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => Err(ConnectionLost),
            }
        })
    }
}
