//! A whole world in process: API server, Kubernetes in miniature, agents, an operator that may die, and the oracle. A world can
//! begin where another one was, so that what came before need not happen again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::Faults;
use muster_apiserver::server::source::Seeded;
use muster_apiserver::store::{Change, ChangeKind};
use muster_core::manager::requests::{Ask, Request};
use muster_core::manager::roster::Copies;
use muster_operator::agents::Limits;
use muster_operator::clock::{RuntimeClock, SharedClock};
use muster_operator::context::Chance;
use muster_operator::lease::Authority;
use muster_operator::manager::START_LIMIT;
use muster_operator::metrics::Metrics;
use muster_operator::run::{NEEDS, Operator, Parts};
use muster_operator::serve::Health;
use muster_test_agents::kubelet::{Knobs, Kubelet};
use muster_test_agents::{Fleet, Kind, Memory, Pace};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::oracle::Oracle;
use super::samples::{self, CLUSTER, NAMESPACE, Software};
use super::stored::{says, says_ready};
use super::troubles::Troubles;
use super::truth::Lack;
use super::wire::Wire;

/// When the first world begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";
/// How often a test looks, in the world's own time.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long anything may take, in the world's own time.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long everything has to stay as it is to be the end: longer than anything is late.
const CALM: Duration = Duration::from_secs(3);
/// Longer than any test, in its own time.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long an operator that was just started may keep to itself what it finds: until everyone was heard, a second for what its
/// Members make of that (DESIGN section 4, point 3), and one until that is stored.
pub(crate) const AFTER_A_START: Duration = START_LIMIT.saturating_add(Duration::from_secs(2));
/// What marks a request of a person.
const REQUEST: &str = "muster.dev/request";

/// A world as it was at one moment.
pub(crate) struct Base {
    /// Holds and serves what there was, and nobody uses it.
    server: Server,
    fleet: Option<Memory>,
    at: Timestamp,
    starts: u64,
    software: Software,
}

/// A world.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) fleet: Fleet,
    pub(crate) troubles: Troubles,
    pub(crate) oracle: Oracle,
    pub(crate) wire: Arc<Wire>,
    pub(crate) clock: SharedClock,
    pub(crate) limits: Limits,
    /// What happened, in words.
    story: Vec<String>,
    software: Software,
    operator: Option<Operator>,
    seed: u64,
    starts: u64,
    _kubelet: Kubelet,
    _controllers: JoinSet<()>,
    _elsewhere: watch::Sender<Option<Arc<BTreeSet<String>>>>,
    elsewhere: watch::Receiver<Option<Arc<BTreeSet<String>>>>,
}

/// Lets the world's own time pass: with paused time it takes none.
pub(crate) async fn pause(time: Duration) {
    drop(tokio::time::timeout(time, std::future::pending::<()>()).await);
}

impl Base {
    /// A world with an engine for such software and a storage class, in which nothing has happened.
    pub(crate) async fn empty(software: Software) -> Self {
        let at: Timestamp = BEGINNING.parse().unwrap();
        let server = Server::builder().source(Seeded::new(0, at)).build().await;
        let wire = Arc::new(Wire::default());
        let client = wire.client(&server, "person");
        for crd in muster_api::crds::crds() {
            create(&client, "apiextensions.k8s.io/v1", serde_json::to_value(crd).unwrap()).await;
        }
        let named = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}});
        create(&client, "v1", named("Namespace", NAMESPACE)).await;
        create(&client, "v1", named("Namespace", "muster-system")).await;
        let mut class = named("StorageClass", "fast");
        class["provisioner"] = "muster.dev/test".into();
        create(&client, "storage.k8s.io/v1", class).await;
        create(&client, "muster.dev/v1alpha1", samples::engine(software)).await;
        Self { server: kept(&server).await, fleet: None, at, starts: 0, software }
    }
}

/// A server that has and serves what this one does, Events apart.
async fn kept(server: &Server) -> Server {
    let kept = Server::builder().like(server).build().await;
    for (key, stored) in kept.store().all().objects {
        if key.resource.ends_with("events") {
            kept.store().remove(&key, stored.object.value(), stored.revision).await.unwrap();
        }
    }
    Server::builder().like(&kept).build().await
}

/// Creates an object of any kind, as a person does.
async fn create(client: &Client, version: &str, object: Value) {
    let kind = object["kind"].as_str().unwrap().to_owned();
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let api: Api<DynamicObject> = match object.metadata.namespace.clone() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    api.create(&PostParams::default(), &object).await.unwrap();
}

impl World {
    /// A world that goes on from there; nobody operates yet.
    pub(crate) async fn begin(base: &Base, seed: u64, pace: Pace) -> Self {
        let fleet = match &base.fleet {
            Some(memory) => Fleet::resumed(memory, seed, pace),
            None => Fleet::with_pace(seed, pace),
        };
        fleet.set_time(base.at);
        fleet.configure(NAMESPACE, CLUSTER, kind(base.software), copies(base.software));
        let oracle = Oracle::new(&fleet, base.software);
        for (key, stored) in base.server.store().all().objects {
            let (kind, object) = (ChangeKind::Added, stored.object);
            oracle.knew(&Change { revision: stored.revision, kind, key, object, previous: None });
        }
        let troubles = Troubles::watched_by(&oracle);
        let faults: Arc<dyn Faults> = Arc::new(troubles.clone());
        // Ids that the world before did not give.
        let source = Seeded::new(seed.wrapping_mul(7919).wrapping_add(base.starts + 1), base.at);
        let server = Server::builder().like(&base.server).source(source).faults(faults).build().await;
        let (looks, notes) = (oracle.clone(), troubles.clone());
        server.store().tell(move |change| {
            looks.see(change);
            notes.see(change);
        });
        oracle.listen(&fleet);
        fleet.set_faults(Arc::new(troubles.clone()));
        let kubelets = muster_test_agents::kubelet::client(server.clone(), NAMESPACE);
        let kubelet = Kubelet::start(kubelets, fleet.clone(), Knobs::default(), seed);
        let mut controllers = JoinSet::new();
        controllers.spawn(muster_apiserver::controllers::run(server.clone()));
        let (sender, elsewhere) = watch::channel(Some(Arc::default()));
        let wire = Arc::new(Wire::default());
        Self {
            client: wire.client(&server, "person"),
            server,
            fleet,
            troubles,
            oracle,
            wire,
            clock: Arc::new(RuntimeClock::starting_at(base.at)),
            limits: Limits {
                // Where agents need not say that they live, silence says nothing.
                silence: pace.heartbeat.map_or(FOR_EVER, |beat| beat * 3),
                ..Limits::default()
            },
            story: Vec::new(),
            software: base.software,
            operator: None,
            seed,
            starts: base.starts,
            _kubelet: kubelet,
            _controllers: controllers,
            _elsewhere: sender,
            elsewhere,
        }
    }

    /// This world as it is now.
    pub(crate) async fn base(&self) -> Base {
        let fleet = self.fleet.memory();
        let at = fleet.at() + SignedDuration::from_secs(1);
        let server = kept(&self.server).await;
        Base { server, fleet: Some(fleet), at, starts: self.starts, software: self.software }
    }

    /// What an operator of this world is made of, which has these wires and this authority.
    pub(crate) fn parts(&mut self, wire: &Arc<Wire>, authority: Authority, name: &str) -> Parts {
        self.starts += 1;
        Parts {
            client: wire.client(&self.server, name),
            namespace: None,
            authority,
            clock: self.clock.clone(),
            dial: Arc::new(wire.dial(&self.fleet)),
            agent_limits: self.limits,
            agent_image: "muster:test".into(),
            chance: Chance::seeded(self.seed.wrapping_mul(31).wrapping_add(self.starts)),
            identity: name.to_owned(),
            elsewhere: self.elsewhere.clone(),
            metrics: Metrics::new(),
            health: Health::new([NEEDS]),
        }
    }

    /// Starts an operator, in place of the one that runs.
    pub(crate) fn start_operator(&mut self) {
        self.operator = None;
        self.wire = Arc::new(Wire::default());
        let (wire, epoch) = (self.wire.clone(), self.starts + 1);
        self.troubles.connect(&wire);
        self.oracle.stun(AFTER_A_START);
        let authority = Authority::uncontested(epoch, self.clock.clone());
        let parts = self.parts(&wire, authority, &format!("operator-{epoch}"));
        self.operator = Some(Operator::start(parts));
    }

    fn clusters(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("muster.dev", "v1alpha1", "ReplicatedCluster");
        Api::namespaced_with(self.client.clone(), NAMESPACE, &ApiResource::from_gvk(&kind))
    }

    pub(crate) async fn create(&self, nodes: &[usize]) {
        create(&self.client, "muster.dev/v1alpha1", samples::cluster(nodes)).await;
    }

    /// A person creates an object of any kind.
    pub(crate) async fn make(&self, version: &str, object: Value) {
        create(&self.client, version, object).await;
    }

    /// A person changes the cluster by a merge patch.
    pub(crate) async fn edit(&self, patch: Value) {
        self.oracle.expect_edit(!patch["spec"].is_null());
        self.clusters().patch(CLUSTER, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
        self.oracle.expect_edit(false);
    }

    /// A person writes this into the status.
    pub(crate) async fn garble(&self, status: Value) {
        self.oracle.look_away(true);
        let (clusters, params) = (self.clusters(), PatchParams::default());
        clusters.patch_status(CLUSTER, &params, &Patch::Merge(status)).await.unwrap();
        self.oracle.look_away(false);
    }

    pub(crate) async fn delete(&self) {
        self.clusters().delete(CLUSTER, &DeleteParams::default()).await.unwrap();
    }

    /// A person asks for something once, as the plugin does.
    pub(crate) async fn ask(&self, ask: Ask) {
        let Some(request) = self.oracle.cluster(|cluster| {
            let cluster = cluster?;
            Some(Request {
                id: format!("request-{}", self.fleet.now().as_millisecond()),
                cluster_uid: cluster["metadata"]["uid"].as_str()?.to_owned(),
                generation: cluster["metadata"]["generation"].as_i64()?,
                expires: self.fleet.now() + SignedDuration::from_mins(5),
                digest: cluster["status"]["recovery"]["digest"].as_str().map(str::to_owned),
                ask,
            })
        }) else {
            return;
        };
        let text = serde_json::to_string(&request).unwrap();
        let patch = json!({"metadata": {"annotations": {REQUEST: text}}});
        self.clusters().patch(CLUSTER, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// The agents of these members end and start again.
    pub(crate) fn restart(&self, members: &[String]) {
        self.oracle.hurt();
        for member in members {
            self.fleet.restart(NAMESPACE, member);
        }
    }

    /// Whether status says Ready of this spec, no request is under way, it is so, and clients find whom they look for.
    pub(crate) fn is_live(&self) -> bool {
        let said = self.oracle.cluster(|cluster| {
            cluster.is_some_and(|cluster| {
                says_ready(cluster) && cluster["metadata"]["annotations"][REQUEST].is_null()
            })
        });
        said && self.oracle.lacks().is_empty() && self.oracle.mislabelled().is_empty()
    }

    /// Whether this condition has this status, at the generation.
    pub(crate) fn says(&self, kind: &str, status: &str) -> bool {
        self.oracle.cluster(|cluster| cluster.is_some_and(|cluster| says(cluster, kind, status)))
    }

    /// Whether this condition has this reason.
    pub(crate) fn gives_as_reason(&self, kind: &str, reason: &str) -> bool {
        self.oracle.cluster(|cluster| {
            let conditions = cluster.and_then(|cluster| cluster["status"]["conditions"].as_array());
            conditions.is_some_and(|all| all.iter().any(|it| it["type"] == kind && it["reason"] == reason))
        })
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.oracle.cluster(|cluster| cluster.is_none())
    }

    /// Something happens, which whoever reads of a failure wants to know.
    pub(crate) fn note(&mut self, what: &str) {
        self.story.push(format!("{} {what}", self.fleet.now()));
    }

    /// Lets time pass, in which an operator that died is started again, and the oracle is heard.
    pub(crate) async fn pass(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let wire = self.wire.clone();
            tokio::select! {
                biased;
                () = wire.until_dead() => {
                    pause(LOOK_EVERY).await;
                    self.start_operator();
                }
                () = pause(end - Instant::now()) => {}
            }
        }
        self.oracle.look();
        let wrongs = self.oracle.wrongs();
        assert!(wrongs.is_empty(), "{}\n{}", wrongs.join("\n"), self.describe());
    }

    /// Waits until this is so, and stays so without another write.
    pub(crate) async fn until(&mut self, what: &str, test: impl Fn(&Self) -> bool) {
        let (began, mut since, mut changes) = (Instant::now(), None, 0);
        loop {
            self.pass(LOOK_EVERY).await;
            let before = std::mem::replace(&mut changes, self.oracle.changes());
            let moved = before != changes;
            since = test(self).then(|| since.filter(|_| !moved).unwrap_or_else(Instant::now));
            if since.is_some_and(|since| since.elapsed() >= CALM) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "waited for it {what}:\n{}", self.describe());
        }
    }

    /// Everything that is of interest when something is wrong.
    pub(crate) fn describe(&self) -> String {
        let cluster = self.oracle.copy();
        let mut lacks: Vec<String> = self.oracle.lacks().into_iter().map(|lack: Lack| lack.what).collect();
        lacks.extend(self.oracle.mislabelled());
        let conditions = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let conditions: Vec<String> = conditions
            .iter()
            .map(|it| format!("{}={}/{} {}", it["type"], it["status"], it["reason"], it["message"]))
            .collect();
        let uid = cluster["metadata"]["uid"].as_str().unwrap_or_default();
        let name = muster_operator::key::Name::new(NAMESPACE, CLUSTER);
        let manager = self.operator.as_ref().and_then(|operator| operator.managers().get(&name, uid));
        let decision = manager.map(|manager| {
            let view = manager.view.borrow().clone();
            view.sight.as_ref().map(|sight| (sight.decision.clone(), sight.observed.roster().cloned()))
        });
        let log = self.troubles.log();
        let last = &log[log.len().saturating_sub(40)..];
        format!(
            "at {}\nlacks: {lacks:?}\ngeneration {} observed {}\n{}\nrecovery: {}\ndecided: {decision:?}\n{}\n{}",
            self.fleet.now(),
            cluster["metadata"]["generation"],
            cluster["status"]["observedGeneration"],
            conditions.join("\n"),
            cluster["status"]["recovery"],
            last.join("\n"),
            self.story.join("\n"),
        )
    }
}

impl Drop for World {
    /// What goes wrong knows the oracle, and that the fleet: a world that is over would hold itself.
    fn drop(&mut self) {
        self.fleet.set_faults(Arc::new(muster_test_agents::NoFaults));
    }
}

fn kind(software: Software) -> Kind {
    match (software.elects, software.all) {
        (true, _) => Kind::SelfElecting,
        (_, true) => Kind::ManyPrimaries,
        _ => Kind::OnePrimary,
    }
}

fn copies(software: Software) -> Copies {
    if software.copies == 0 { Copies::Majority } else { Copies::Fixed(software.copies) }
}
