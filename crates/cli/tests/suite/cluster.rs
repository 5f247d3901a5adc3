//! A cluster in a world, and what can be asked of it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use muster_api::{Member, ReplicatedCluster};
use muster_ledger::client::Client as Ledger;
use serde_json::{Value, json};

use super::clients::Server;
use super::deaths;
use super::errant::Mending;
use super::losses::Losses;
use super::software::Software;
use super::turns::Turn;
use super::{Entry, LOOK_EVERY, PATIENCE, World, Writer};

/// The namespace of all.
const NAMESPACE: &str = "default";
/// How long it may take to say that a cluster is not needed any more.
const TIDYING: Duration = Duration::from_secs(10);
/// Where ledgers listen.
const PORT: u16 = 7100;

pub(crate) struct Cluster {
    pub(crate) name: String,
    /// What it is made of.
    pub(crate) software: Software,
    world: &'static World,
    runtime: tokio::runtime::Runtime,
    client: Client,
    /// What is done about members that are errant.
    pub(super) mending: RefCell<Mending>,
    /// What clients were told, and what of it is lost.
    pub(super) losses: RefCell<Losses>,
    /// Held: a scenario has one cluster, and is over with it.
    _turn: Turn,
}

impl Cluster {
    /// Makes one of so many members, and waits until it is Ready.
    pub(crate) fn ready(name: &str, members: u32) -> Self {
        let cluster = Self::made(name, members, "directory");
        cluster.until_ready();
        cluster
    }

    /// The same, in a world in which no other scenario is.
    pub(crate) fn alone(name: &str, members: u32) -> Self {
        let cluster = Self::made_in(Turn::alone(), name, members, "directory");
        cluster.until_ready();
        cluster
    }

    /// The same for one of several in a test that has the world alone, and keeps it.
    pub(crate) fn within(_alone: &Turn, name: &str, members: u32) -> Self {
        let cluster = Self::made_in(Turn::Within, name, members, "directory");
        cluster.until_ready();
        cluster
    }

    /// Makes one with volumes of this class.
    pub(crate) fn made(name: &str, members: u32, class: &str) -> Self {
        Self::made_in(Turn::beside_others(), name, members, class)
    }

    fn made_in(turn: Turn, name: &str, members: u32, class: &str) -> Self {
        let world = World::shared();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let file = Kubeconfig::read_from(world.kubeconfig()).unwrap();
        let client = runtime.block_on(async {
            let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
            Client::try_from(config).unwrap()
        });
        let cluster = Self {
            name: name.to_owned(),
            software: crate::SOFTWARE,
            world,
            runtime,
            client,
            mending: RefCell::default(),
            losses: RefCell::default(),
            _turn: turn,
        };
        cluster.make(members, class);
        cluster
    }

    /// Makes it again.
    pub(crate) fn make(&self, members: u32, class: &str) {
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": self.name},
            "spec": {
                "engine": {
                    "name": self.software.engine(), "version": self.software.versions()[0],
                    "parameters": self.software.parameters(),
                },
                "pools": [{
                    "name": "a", "threshold": {"nodes": members},
                    "storage": {"capacity": self.software.capacity(), "storageClassName": class},
                }],
            },
        });
        let object = serde_json::from_value(object).unwrap();
        self.run(self.api::<ReplicatedCluster>().create(&PostParams::default(), &object)).unwrap();
    }

    pub(crate) fn world(&self) -> &'static World {
        self.world
    }

    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// The object as it is; null when there is none.
    pub(crate) fn get(&self) -> Value {
        let found = self.run(self.api::<ReplicatedCluster>().get_opt(&self.name)).unwrap();
        serde_json::to_value(found).unwrap()
    }

    pub(crate) fn patch(&self, patch: &Value) {
        let api = self.api::<ReplicatedCluster>();
        self.run(api.patch(&self.name, &PatchParams::default(), &Patch::Merge(patch))).unwrap();
    }

    pub(crate) fn patch_status(&self, patch: &Value) {
        let api = self.api::<ReplicatedCluster>();
        self.run(api.patch_status(&self.name, &PatchParams::default(), &Patch::Merge(patch))).unwrap();
    }

    /// Wants so many members.
    pub(crate) fn scale(&self, members: u32) {
        let storage = json!({"capacity": self.software.capacity(), "storageClassName": "directory"});
        let pool = json!({"name": "a", "threshold": {"nodes": members}, "storage": storage});
        self.patch(&json!({"spec": {"pools": [pool]}}));
    }

    /// Deletes it, and waits until it is gone.
    pub(crate) fn delete(&self) {
        self.run(self.api::<ReplicatedCluster>().delete(&self.name, &DeleteParams::default())).unwrap();
        self.until("it is gone", Value::is_null);
    }

    /// Waits until this is so of the object, which is shown otherwise.
    pub(crate) fn until(&self, what: &str, test: impl Fn(&Value) -> bool) -> Value {
        self.until_within(PATIENCE, what, test)
    }

    /// The same with another bound, which is longer while operators die.
    pub(super) fn until_within(
        &self,
        patience: Duration,
        what: &str,
        test: impl Fn(&Value) -> bool,
    ) -> Value {
        let (began, mut longest) = (Instant::now(), patience);
        loop {
            self.world.assert_sound();
            let object = self.get();
            if test(&object) {
                return object;
            }
            self.mend(&object);
            self.go_on_without(&object);
            longest = longest.max(deaths::patience(patience));
            let shown = || serde_json::to_string_pretty(&object["status"]).unwrap();
            assert!(
                began.elapsed() < longest,
                "{}: waited until {what}:\n{}\n{}\n{}",
                self.name,
                shown(),
                self.complaints(),
                self.world.logs()
            );
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// What its Members say that is not well.
    fn complaints(&self) -> String {
        let members = self.run(self.api::<Member>().list(&ListParams::default())).unwrap();
        let own = members.into_iter().filter(|member| member.spec.cluster_name == self.name);
        let words = own.flat_map(|member| {
            let name = member.name_any();
            let conditions = member.status.map(|status| status.conditions).unwrap_or_default();
            let bad = conditions.into_iter().filter(|it| it.status != "True");
            bad.map(move |it| format!("{name} {}={} {}: {}", it.type_, it.status, it.reason, it.message))
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// Waits until something is found.
    pub(crate) fn until_found<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let found = RefCell::new(None);
        self.until(what, |_| {
            found.replace(look());
            found.borrow().is_some()
        });
        found.into_inner().unwrap()
    }

    /// Waits until what is wanted is so, everywhere.
    pub(crate) fn until_ready(&self) -> Value {
        self.until("it is Ready", |it| is(it, "Ready", "True"))
    }

    /// Wants so many members, and waits until there are so many, and all is Ready.
    pub(crate) fn scale_to(&self, members: u32) {
        self.scale(members);
        let object = self.until_ready();
        for count in ["replicas", "readyReplicas"] {
            assert_eq!(object["status"][count], members, "{count} of {object:#}");
        }
    }

    /// The primary, or the first of them.
    pub(crate) fn primary(&self) -> String {
        leader(&self.until("someone leads", |it| leader(it).is_some())).unwrap()
    }

    /// A member that is not the primary; where all are, one that is not the first of them.
    pub(crate) fn secondary(&self) -> String {
        follower(&self.until("someone follows", |it| follower(it).is_some())).unwrap()
    }

    /// The member of this ordinal.
    pub(crate) fn member(&self, ordinal: u32) -> String {
        format!("{}-a-{ordinal}", self.name)
    }

    /// The members of the first ordinals.
    pub(crate) fn members(&self, count: u32) -> Vec<String> {
        (0..count).map(|ordinal| self.member(ordinal)).collect()
    }

    pub(crate) fn pod(&self, member: &str) -> Option<Pod> {
        self.run(self.api::<Pod>().get_opt(&format!("{member}-0"))).unwrap()
    }

    /// What the volume of a member is called.
    pub(crate) fn volume_name(&self, member: &str) -> String {
        let claim = self.run(self.api::<PersistentVolumeClaim>().get(&format!("data-{member}"))).unwrap();
        claim.spec.unwrap().volume_name.unwrap()
    }

    /// Where the volume of a member is on this machine.
    pub(crate) fn volume(&self, member: &str) -> std::path::PathBuf {
        let name = self.volume_name(member);
        let volumes: Api<PersistentVolume> = Api::all(self.client());
        let volume = self.run(volumes.get(&name)).unwrap();
        volume.spec.unwrap().local.unwrap().path.into()
    }

    /// Where clients are sent.
    pub(crate) fn address(&self) -> String {
        let object = self.until("it has an address", |it| it["status"]["endpoint"]["host"].is_string());
        let endpoint = &object["status"]["endpoint"];
        format!("{}:{}", endpoint["host"].as_str().unwrap(), endpoint["port"])
    }

    /// A client that writes from now on.
    pub(crate) fn writer(&self) -> Writer {
        let writer = Writer::start(match self.software {
            Software::Ledger => Server::Ledger { address: self.address(), who: self.name.clone() },
            Software::Galera => {
                self.make_table();
                Server::Galera(self.clients_account())
            }
        });
        self.losses.borrow_mut().listen_to(&writer);
        writer
    }

    /// Waits until a member has these entries.
    pub(crate) fn has(&self, member: &str, entries: &[Entry]) {
        let began = Instant::now();
        loop {
            let there: BTreeSet<Entry> = self.read(member).unwrap_or_default().into_iter().collect();
            let missing: Vec<_> = entries.iter().filter(|entry| !there.contains(entry)).collect();
            if missing.is_empty() {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{member} lacks {} acknowledged entries, the first are {:?}",
                missing.len(),
                &missing[..missing.len().min(5)]
            );
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// The ledger of this very member, whoever clients are sent to.
    pub(crate) fn ledger(&self, member: &str) -> std::io::Result<Ledger> {
        let address = self.pod(member).and_then(|pod| pod.status?.pod_ip).unwrap_or_default();
        Ledger::connect(&format!("{address}:{PORT}"))
    }

    /// All entries that a running member has.
    pub(crate) fn read(&self, member: &str) -> std::io::Result<Vec<Entry>> {
        match self.software {
            Software::Ledger => self.ledger(member)?.read(1, usize::MAX),
            Software::Galera => self.rows_of(member),
        }
    }
}

impl Drop for Cluster {
    /// Its scenario is over, and nobody looks at it any more: its members would run on beside those of all that follow.
    fn drop(&mut self) {
        let clusters = self.api::<ReplicatedCluster>();
        let parameters = DeleteParams::default();
        let deleted = clusters.delete(&self.name, &parameters);
        // Whatever became of it is the world's, which ends soon; a scenario may have deleted it by itself.
        drop(self.run(async { tokio::time::timeout(TIDYING, deleted).await }));
    }
}

/// Who leads, if anyone does.
pub(crate) fn leader(object: &Value) -> Option<String> {
    let primaries = object["status"]["members"]["primary"].as_array()?;
    primaries.first()?.as_str().map(str::to_owned)
}

/// A secondary; where all are primaries, the last of several.
fn follower(object: &Value) -> Option<String> {
    let members = &object["status"]["members"];
    let primaries = members["primary"].as_array().filter(|primaries| primaries.len() > 1);
    let found = members["secondary"][0].as_str().or_else(|| primaries?.last()?.as_str());
    found.map(str::to_owned)
}

/// Whether a condition says this of the present generation.
pub(crate) fn is(object: &Value, kind: &str, status: &str) -> bool {
    condition(object, kind).is_some_and(|condition| {
        condition["status"] == status && condition["observedGeneration"] == object["metadata"]["generation"]
    })
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// Whether status says that primaries are apart, and that it waits for a person.
pub(crate) fn is_split(object: &Value) -> bool {
    let because = |kind: &str, status: &str, reason: &str| {
        is(object, kind, status) && condition(object, kind).is_some_and(|it| it["reason"] == reason)
    };
    object["status"]["recovery"]["blockedBy"] == "EqualTerms"
        && because("Recovering", "True", "Blocked")
        && ["ControlPlaneReady", "Available", "Ready"].iter().all(|kind| because(kind, "False", "SplitBrain"))
}
