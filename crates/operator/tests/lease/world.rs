//! The scene: a server with the operator's namespace, a person at the keyboard, and a common clock.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use muster_apiserver::server::Server;
use muster_apiserver::server::source::Seeded;
use muster_operator::clock::RuntimeClock;
use muster_operator::lease::{Identity, Options};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::faults::{PERSON, Trouble};
use crate::process::{Link, Process, client};

/// Where the Lease is.
pub(crate) const NAMESPACE: &str = "muster-system";
/// Often enough to see what happens, seldom enough to be fast.
const TICK: Duration = Duration::from_millis(100);

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) trouble: Arc<Trouble>,
    pub(crate) clock: RuntimeClock,
    pub(crate) person: kube::Client,
    chance: StdRng,
}

impl World {
    pub(crate) async fn new(seed: u64) -> Self {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let trouble = Arc::new(Trouble::default());
        let source = Seeded::new(seed, at);
        let server = Server::builder().source(source).faults(trouble.clone()).build().await;
        let person = client(&server, Arc::new(Link::default()), PERSON);
        let world = Self {
            server,
            trouble,
            clock: RuntimeClock::starting_at(at),
            person,
            chance: StdRng::seed_from_u64(seed),
        };
        world.create_namespace(NAMESPACE).await;
        world
    }

    pub(crate) async fn create_namespace(&self, name: &str) {
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(self.person.clone());
        let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        namespaces.create(&PostParams::default(), &object).await.unwrap();
    }

    /// The options of a new process.
    pub(crate) fn options(&mut self) -> Options {
        Options::new(None, Identity::fresh("operator", &mut self.chance))
    }

    /// A process with a clock that is wrong by so many seconds.
    pub(crate) fn start(&mut self, skew: i64) -> Process {
        let options = self.options();
        Process::start(&self.server, self.clock, skew, options)
    }

    /// A process that leads.
    pub(crate) async fn leader(&mut self) -> Process {
        let options = Options { new_store: true, ..self.options() };
        let process = Process::start(&self.server, self.clock, 0, options);
        within(5, || process.leads()).await;
        process
    }

    pub(crate) fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.person.clone(), NAMESPACE)
    }

    pub(crate) async fn lease(&self) -> Option<Lease> {
        self.leases().get_opt("muster-operator").await.unwrap()
    }

    pub(crate) async fn holder(&self) -> String {
        self.lease().await.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default()
    }

    pub(crate) async fn delete(&self) {
        let _ = self.leases().delete("muster-operator", &DeleteParams::default()).await;
    }

    pub(crate) async fn patch(&self, patch: Value) {
        let patch = Patch::Merge(patch);
        let _ = self.leases().patch("muster-operator", &PatchParams::default(), &patch).await;
    }

    pub(crate) async fn write_epoch(&self, text: &str) {
        self.patch(json!({"metadata": {"annotations": {"muster.dev/epoch": text}}})).await;
    }

    /// The wall clock that is right, in seconds.
    pub(crate) fn seconds(&self) -> u64 {
        use muster_operator::clock::Clock;
        u64::try_from(Timestamp::as_second(self.clock.now())).unwrap()
    }
}

/// Waits for it, so many seconds at most.
pub(crate) async fn within<T>(seconds: u64, mut look: impl FnMut() -> Option<T>) -> T {
    let mut ticks = tokio::time::interval(TICK);
    let found = async {
        loop {
            ticks.tick().await;
            if let Some(found) = look() {
                return found;
            }
        }
    };
    timeout(Duration::from_secs(seconds), found).await.expect("it did not happen in time")
}

/// Lets so many seconds pass, and looks all the time.
pub(crate) async fn all_the_time(seconds: u64, mut look: impl FnMut()) {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut ticks = tokio::time::interval(TICK);
    while Instant::now() < end {
        ticks.tick().await;
        look();
    }
}
