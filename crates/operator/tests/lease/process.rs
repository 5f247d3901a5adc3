//! One operator process: it can be killed, stopped for a while, cut off, told a wrong time, and shut down.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use http::{HeaderValue, Request, Response, header::USER_AGENT};
use jiff::{SignedDuration, Timestamp};
use muster_apiserver::server::{Body, Server, faults::ConnectionLost};
use muster_operator::clock::{Clock, RuntimeClock};
use muster_operator::lease::{Authority, Elector, Error, Options};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A process that runs an elector.
pub(crate) struct Process {
    pub(crate) authority: Authority,
    pub(crate) identity: String,
    pub(crate) clock: Arc<Skewed>,
    pub(crate) link: Arc<Link>,
    pub(crate) brake: Arc<Brake>,
    tasks: Vec<JoinHandle<()>>,
    elector: JoinHandle<Result<(), Error>>,
    shutdown: Option<oneshot::Sender<()>>,
}

impl Process {
    pub(crate) fn start(server: &Server, clock: RuntimeClock, skew: i64, options: Options) -> Self {
        let (link, brake) = (Arc::new(Link::default()), Arc::new(Brake::default()));
        let client = client(server, link.clone(), options.identity.as_str());
        let identity = options.identity.as_str().to_owned();
        let clock = Arc::new(Skewed { clock, by: AtomicI64::new(skew) });
        let elector = Elector::new(client, options, clock.clone());
        let authority = elector.authority();
        let (shutdown, told) = oneshot::channel();
        let elector = tokio::spawn(brake.on(async move {
            let told = async {
                let _ = told.await;
            };
            elector.run(told).await
        }));
        let (shutdown, tasks) = (Some(shutdown), Vec::new());
        Self { authority, identity, clock, link, brake, tasks, elector, shutdown }
    }

    /// Something else that this process does.
    pub(crate) fn also(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(self.brake.on(task)));
    }

    /// Whether it has a mandate now.
    pub(crate) fn leads(&self) -> Option<u64> {
        self.authority.now().ok().map(|mandate| mandate.epoch)
    }

    /// Asks it to end.
    pub(crate) fn shut_down(&mut self) {
        self.shutdown.take();
    }

    pub(crate) fn is_told_to_end(&self) -> bool {
        self.shutdown.is_none()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.elector.is_finished()
    }

    /// Asks it to end, and waits until it has.
    pub(crate) async fn end(mut self) -> Result<(), Error> {
        self.shut_down();
        (&mut self.elector).await.unwrap()
    }

    /// What the elector ended with.
    pub(crate) async fn outcome(mut self) -> Result<(), Error> {
        (&mut self.elector).await.unwrap()
    }
}

/// What is dropped is killed, in the middle of anything.
impl Drop for Process {
    fn drop(&mut self) {
        self.elector.abort();
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A clock that is wrong by some seconds.
pub(crate) struct Skewed {
    clock: RuntimeClock,
    by: AtomicI64,
}

impl Skewed {
    pub(crate) fn set(&self, by: i64) {
        self.by.store(by, Ordering::Relaxed);
    }
}

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        self.clock.now() + SignedDuration::from_secs(self.by.load(Ordering::Relaxed))
    }
}

/// Stops a process: nothing of it is polled.
#[derive(Default)]
pub(crate) struct Brake {
    stopped: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Brake {
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn go(&self) {
        self.stopped.store(false, Ordering::Relaxed);
        self.waiting.lock().unwrap().drain(..).for_each(Waker::wake);
    }

    fn on<F: Future>(self: &Arc<Self>, inner: F) -> Braked<F> {
        Braked { inner: Box::pin(inner), brake: self.clone() }
    }
}

struct Braked<F> {
    inner: Pin<Box<F>>,
    brake: Arc<Brake>,
}

impl<F: Future> Future for Braked<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if self.brake.stopped.load(Ordering::Relaxed) {
            self.brake.waiting.lock().unwrap().push(context.waker().clone());
            return Poll::Pending;
        }
        self.inner.as_mut().poll(context)
    }
}

/// The network between a process and the API server.
#[derive(Default)]
pub(crate) struct Link {
    silent: AtomicBool,
    refusing: AtomicBool,
}

impl Link {
    /// Nothing comes through, and nobody says so.
    pub(crate) fn fall_silent(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }

    /// Connections are refused.
    pub(crate) fn refuse(&self) {
        self.refusing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mend(&self) {
        self.silent.store(false, Ordering::Relaxed);
        self.refusing.store(false, Ordering::Relaxed);
    }
}

/// A client behind a link.
pub(crate) fn client(server: &Server, link: Arc<Link>, user_agent: &str) -> kube::Client {
    let user_agent = HeaderValue::from_str(user_agent).unwrap();
    kube::Client::new(Linked { server: server.clone(), link, user_agent }, "default")
}

#[derive(Clone)]
struct Linked {
    server: Server,
    link: Arc<Link>,
    user_agent: HeaderValue,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, ConnectionLost>> + Send>>;

impl tower_service::Service<Request<kube::client::Body>> for Linked {
    type Response = Response<Body>;
    type Error = ConnectionLost;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionLost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<kube::client::Body>) -> Answering {
        request.headers_mut().insert(USER_AGENT, self.user_agent.clone());
        let (answer, link) = (self.server.call(request), self.link.clone());
        Box::pin(async move {
            if link.refusing.load(Ordering::Relaxed) {
                return Err(ConnectionLost);
            }
            if link.silent.load(Ordering::Relaxed) {
                return std::future::pending().await;
            }
            let answer = answer.await;
            // What took effect may still be cut off on its way back.
            if link.silent.load(Ordering::Relaxed) { std::future::pending().await } else { answer }
        })
    }
}
