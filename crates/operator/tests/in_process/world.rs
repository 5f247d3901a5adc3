//! A whole world in process: API server, Kubernetes in miniature, agents and operators.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};
use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::{EventFault, Fault, Faults, Seen};
use muster_apiserver::server::source::Seeded;
use muster_apiserver::watch::Event;
use muster_operator::agents::Limits;
use muster_operator::clock::{RuntimeClock, SharedClock};
use muster_operator::context::Chance;
use muster_operator::lease::Authority;
use muster_operator::metrics::Metrics;
use muster_operator::run::{Operator, Parts};
use muster_operator::serve::Health;
use muster_test_agents::kubelet::{Knobs, Kubelet};
use muster_test_agents::{Fleet, Pace};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::samples;

/// When every world begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";
/// How often a test looks, in the world's own time.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long anything may take, in the world's own time.
const PATIENCE: Duration = Duration::from_secs(600);

/// The calls that operators make, in the order in which they came, and what goes wrong with one of them.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    calls: Vec<String>,
    /// Everything that anyone asked of anyone, with the time.
    trace: Option<Vec<String>>,
    writes: usize,
    trouble: Option<(usize, Trouble)>,
    met: Option<(&'static str, String, Fault)>,
    hidden: Option<(&'static str, String)>,
    late: Option<(&'static str, Duration)>,
    missed: Option<Missed>,
}

/// The object of which the operator is not told what it wrote itself.
struct Missed {
    resource: &'static str,
    name: String,
    /// Whether the next event is of such a write.
    wrote: bool,
    count: usize,
}

/// What goes wrong with a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is refused for now.
    Error,
    /// It takes effect, and the answer is lost.
    AnswerLost,
    /// Someone else changed the object first.
    Conflict,
    /// The operator dies before it takes effect.
    CrashBefore,
    /// The operator dies after it took effect.
    CrashAfter,
}

impl Calls {
    /// What was called since this was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    /// Begins to keep everything that anyone asks of anyone, with the time.
    pub(crate) fn keep_trace(&self) {
        self.0.lock().unwrap().trace.get_or_insert_default();
    }

    /// Everything that was asked since, by whom and when.
    pub(crate) fn trace(&self) -> Vec<String> {
        self.0.lock().unwrap().trace.clone().unwrap_or_default()
    }

    /// Something was asked.
    pub(crate) fn note(&self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.0.lock().unwrap().trace {
            trace.push(what());
        }
    }

    /// How many writes there were.
    pub(crate) fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    /// Lets the write of this number go wrong.
    pub(crate) fn trouble(&self, number: usize, trouble: Trouble) {
        self.0.lock().unwrap().trouble = Some((number, trouble));
    }

    /// Refuses every write to the object of this resource and name for this reason, until told otherwise. Its status is
    /// another resource, as in `members/status`.
    pub(crate) fn refuse(&self, what: Option<(&'static str, String, &'static str)>) {
        let forbidden = |why| Fault::Before(ApiError::new(Reason::Forbidden, why));
        self.meet(what.map(|(resource, name, why)| (resource, name, forbidden(why))));
    }

    /// The same for a fault of any kind.
    pub(crate) fn meet(&self, what: Option<(&'static str, String, Fault)>) {
        self.0.lock().unwrap().met = what;
    }

    /// Lets every read of the object of this resource and name fail, until told otherwise.
    pub(crate) fn hide(&self, what: Option<(&'static str, String)>) {
        self.0.lock().unwrap().hidden = what;
    }

    /// Tells the operator so much later what changes in this resource, until told otherwise.
    pub(crate) fn delay(&self, what: Option<(&'static str, Duration)>) {
        self.0.lock().unwrap().late = what;
    }

    /// Never tells the operator of what it writes to the object of this resource and name, until told otherwise.
    pub(crate) fn miss(&self, resource: &'static str, name: &str) {
        let missed = Missed { resource, name: name.to_owned(), wrote: false, count: 0 };
        self.0.lock().unwrap().missed = Some(missed);
    }

    /// How many events were missed.
    pub(crate) fn missed(&self) -> usize {
        self.0.lock().unwrap().missed.as_ref().map_or(0, |missed| missed.count)
    }

    /// Whether the operator has to die now.
    fn crash(&self) -> bool {
        let mut log = self.0.lock().unwrap();
        let writes = log.writes;
        let dies = |(number, trouble): &(usize, Trouble)| {
            *number <= writes && matches!(trouble, Trouble::CrashBefore | Trouble::CrashAfter)
        };
        log.trouble.take_if(|trouble| dies(trouble)).is_some()
    }
}

impl Faults for Calls {
    fn request(&self, seen: &Seen) -> Fault {
        self.note(|| {
            let (who, what) = (&seen.user_agent, (&seen.resource, &seen.name, &seen.subresource));
            format!("{} {who} {} {what:?}", seen.number, seen.verb)
        });
        if seen.user_agent == "kubelet" {
            return Fault::None;
        }
        let mut log = self.0.lock().unwrap();
        let kind = if seen.is_write() { "write" } else { "read" };
        let name = seen.name.clone().unwrap_or_default();
        let part = seen.subresource.clone().unwrap_or_default();
        log.calls.push(format!("{kind} {} {} {name} {part}", seen.verb, seen.resource));
        if let Some((resource, name)) = &log.hidden
            && seen.verb == "get"
            && seen.resource.ends_with(resource)
            && seen.name.as_ref() == Some(name)
        {
            return Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order"));
        }
        // Events are news, and nothing depends on them.
        if !seen.is_write() || seen.resource.ends_with("events") {
            return Fault::None;
        }
        log.writes += 1;
        if let Some(missed) = &mut log.missed
            && seen.resource.ends_with(missed.resource)
            && seen.name.as_ref() == Some(&missed.name)
        {
            missed.wrote = true;
        }
        let part = if part.is_empty() { part } else { format!("/{part}") };
        if let Some((resource, name, fault)) = &log.met
            && format!("{}{part}", seen.resource).ends_with(resource)
            && seen.name.as_ref() == Some(name)
        {
            return fault.clone();
        }
        match log.trouble {
            Some((number, trouble)) if number == log.writes => match trouble {
                Trouble::Error => Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order")),
                Trouble::AnswerLost | Trouble::CrashAfter => Fault::LostAfter,
                Trouble::Conflict => Fault::Conflict,
                Trouble::CrashBefore => Fault::LostBefore,
            },
            _ => Fault::None,
        }
    }

    fn event(&self, watch: &Seen, event: &Event) -> EventFault {
        let mut log = self.0.lock().unwrap();
        if let Some(missed) = &mut log.missed
            && missed.wrote
            && watch.user_agent != "kubelet"
            && watch.resource.ends_with(missed.resource)
            && event.object.value()["metadata"]["name"] == missed.name.as_str()
        {
            missed.wrote = false;
            missed.count += 1;
            return EventFault::Drop;
        }
        match log.late {
            Some((resource, by)) if watch.user_agent != "kubelet" && watch.resource.ends_with(resource) => {
                EventFault::Delay(by)
            }
            _ => EventFault::None,
        }
    }
}

/// Lets the world's own time pass: with paused time it takes none.
pub(crate) async fn pause(time: Duration) {
    drop(tokio::time::timeout(time, std::future::pending::<()>()).await);
}

/// A world.
pub(crate) struct World {
    pub(crate) calls: Calls,
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) fleet: Fleet,
    pub(crate) kubelet: Kubelet,
    pub(crate) operator: Option<Operator>,
    pub(crate) authority: Authority,
    clock: SharedClock,
    seed: u64,
    starts: u64,
    _controllers: JoinSet<()>,
    _elsewhere: watch::Sender<Option<Arc<BTreeSet<String>>>>,
    elsewhere: watch::Receiver<Option<Arc<BTreeSet<String>>>>,
}

impl World {
    /// A world with an engine and a storage class, where an operator runs and an hour at rest takes no time.
    pub(crate) async fn new(seed: u64) -> Self {
        let calls = Calls::default();
        let faults: Arc<dyn Faults> = Arc::new(calls.clone());
        let began: Timestamp = BEGINNING.parse().unwrap();
        let server =
            Server::builder().like(&PREPARED).source(Seeded::new(seed, began)).faults(faults).build();
        let server = server.await;
        let client = muster_test_agents::kubelet::client(server.clone(), "shop");
        let fleet = Fleet::with_pace(seed, Pace { heartbeat: None, ..Pace::default() });
        let kubelet = Kubelet::start(client.clone(), fleet.clone(), Knobs::default(), seed);
        let clock: SharedClock = Arc::new(RuntimeClock::starting_at(began));
        let authority = Authority::uncontested(1, clock.clone());
        let (sender, elsewhere) = watch::channel(Some(Arc::default()));
        let mut controllers = JoinSet::new();
        controllers.spawn(muster_apiserver::controllers::run(server.clone()));
        let mut world = Self {
            _controllers: controllers,
            calls,
            server,
            client,
            fleet,
            kubelet,
            operator: None,
            authority,
            clock,
            seed,
            starts: 0,
            _elsewhere: sender,
            elsewhere,
        };
        world.start_operator();
        world
    }

    /// Starts an operator, in place of the one that runs.
    pub(crate) fn start_operator(&mut self) {
        self.starts += 1;
        self.operator = None;
        self.authority = Authority::uncontested(self.starts, self.clock.clone());
        let chance = Chance::seeded(self.seed.wrapping_add(self.starts));
        let (authority, clock) = (self.authority.clone(), self.clock.clone());
        self.operator = Some(Operator::start(self.parts(self.server.clone(), authority, clock, chance)));
    }

    /// What an operator on this server is made of.
    pub(crate) fn parts(
        &self,
        server: Server,
        authority: Authority,
        clock: SharedClock,
        chance: Chance,
    ) -> Parts {
        Parts {
            client: Client::new(server, "shop"),
            namespace: None,
            authority,
            clock,
            dial: Arc::new(self.fleet.dial()),
            // The fleet's streams break off by themselves.
            agent_limits: Limits { silence: Duration::from_secs(86_400), ..Limits::default() },
            agent_image: "muster:test".into(),
            chance,
            identity: format!("operator-{}", self.starts),
            elsewhere: self.elsewhere.clone(),
            metrics: Metrics::new(),
            health: Health::new([muster_operator::run::NEEDS]),
        }
    }

    pub(crate) fn clusters(&self) -> Api<ReplicatedCluster> {
        Api::namespaced(self.client.clone(), "shop")
    }

    pub(crate) fn members(&self) -> Api<Member> {
        Api::namespaced(self.client.clone(), "shop")
    }

    pub(crate) async fn create(&self, name: &str, nodes: i64) {
        self.clusters().create(&PostParams::default(), &samples::cluster(name, nodes)).await.unwrap();
    }

    /// Changes the cluster by a merge patch.
    pub(crate) async fn patch(&self, name: &str, patch: Value) -> ReplicatedCluster {
        self.clusters().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    /// Changes the size of the one pool.
    pub(crate) async fn scale(&self, name: &str, nodes: i64) {
        self.patch(name, json!({"spec": {"pools": samples::manifest(name, nodes)["spec"]["pools"]}})).await;
    }

    /// Waits until the cluster is Ready at its generation, as a script would.
    pub(crate) async fn ready(&self, name: &str) -> ReplicatedCluster {
        self.until(name, "to be Ready", is_ready).await
    }

    /// Waits until this is true of the cluster.
    pub(crate) async fn until(
        &self,
        name: &str,
        what: &str,
        test: impl Fn(&ReplicatedCluster) -> bool,
    ) -> ReplicatedCluster {
        let began = tokio::time::Instant::now();
        loop {
            let cluster = self.clusters().get_opt(name).await.unwrap();
            if let Some(cluster) = cluster.as_ref().filter(|cluster| test(cluster)) {
                return cluster.clone();
            }
            assert!(
                began.elapsed() < PATIENCE,
                "waited for {name} {what}: {}\n{}",
                self.describe(name).await,
                self.fleet.violations().join("\n")
            );
            pause(LOOK_EVERY).await;
        }
    }

    /// Restarts the operator when it has to die, until this is so.
    pub(crate) async fn live_through(&mut self, name: &str, test: impl Fn(&ReplicatedCluster) -> bool) {
        let began = tokio::time::Instant::now();
        loop {
            if self.calls.crash() {
                self.start_operator();
            }
            let cluster = self.clusters().get_opt(name).await.unwrap();
            if cluster.as_ref().is_some_and(&test) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{}", self.describe(name).await);
            pause(Duration::from_millis(5)).await;
        }
    }

    /// Lets a while pass in which nothing happens.
    pub(crate) async fn rest(&self) {
        pause(Duration::from_secs(60)).await;
    }

    /// Waits until there is no such cluster.
    pub(crate) async fn gone(&self, name: &str) {
        let began = tokio::time::Instant::now();
        while self.clusters().get_opt(name).await.unwrap().is_some() {
            assert!(began.elapsed() < PATIENCE, "waited for {name} to go: {}", self.describe(name).await);
            pause(LOOK_EVERY).await;
        }
    }

    /// Everything that status says, for a test that failed.
    pub(crate) async fn describe(&self, name: &str) -> String {
        let cluster = self.clusters().get_opt(name).await.unwrap();
        let members = self.members().list(&ListParams::default()).await.unwrap();
        let statuses: Vec<Value> = members
            .items
            .iter()
            .map(|member| {
                json!({
                    "name": member.name_any(), "generation": member.metadata.generation,
                    "deleting": member.metadata.deletion_timestamp.is_some(), "status": member.status,
                })
            })
            .collect();
        let cluster = cluster.map(|mut cluster| {
            cluster.metadata.managed_fields = None;
            cluster
        });
        serde_json::to_string_pretty(&json!({"cluster": cluster, "members": statuses})).unwrap()
    }
}

/// A server with what is there before anyone comes: made once, as reading definitions takes long; and on a runtime of its
/// own, so that the first world on a runtime runs as every other.
static PREPARED: LazyLock<Server> = LazyLock::new(|| {
    let made = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(prepared())
    });
    made.join().unwrap()
});

async fn prepared() -> Server {
    let began: Timestamp = BEGINNING.parse().unwrap();
    let server = Server::builder().source(Seeded::new(0, began)).build().await;
    let client = &Client::new(server.clone(), "shop");
    let params = PostParams::default();
    let crds: Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = Api::all(client.clone());
    for crd in muster_api::crds::crds() {
        crds.create(&params, &crd).await.unwrap();
    }
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "shop"}})).unwrap();
    Api::<Namespace>::all(client.clone()).create(&params, &namespace).await.unwrap();
    let class =
        json!({"metadata": {"name": "fast"}, "provisioner": "muster.dev/test", "allowVolumeExpansion": true});
    let class: StorageClass = serde_json::from_value(class).unwrap();
    Api::<StorageClass>::all(client.clone()).create(&params, &class).await.unwrap();
    let engines: Api<ReplicationEngine> = Api::all(client.clone());
    engines.create(&params, &samples::engine()).await.unwrap();
    server
}

/// Ready, as `kubectl wait` sees it.
pub(crate) fn is_ready(cluster: &ReplicatedCluster) -> bool {
    is(cluster, "Ready", "True")
}

/// Whether this condition has this status, at the object's generation.
pub(crate) fn is(cluster: &ReplicatedCluster, kind: &str, status: &str) -> bool {
    let generation = cluster.metadata.generation;
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    let mut found = conditions.filter(|condition| condition.type_ == kind);
    found.any(|condition| condition.status == status && condition.observed_generation == generation)
}
