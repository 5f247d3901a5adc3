//! A cluster of ledgers in a world, and what can be asked of it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Instant;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use muster_api::ReplicatedCluster;
use muster_ledger::client::Client as Ledger;
use serde_json::{Value, json};

use super::errant::Mending;
use super::turns::Turn;
use super::{LOOK_EVERY, PATIENCE, World, Writer};

/// The namespace of all.
const NAMESPACE: &str = "default";
/// Where ledgers listen.
const PORT: u16 = 7100;

pub(crate) struct Cluster {
    pub(crate) name: String,
    world: &'static World,
    runtime: tokio::runtime::Runtime,
    client: Client,
    /// What is done about members that are errant.
    pub(super) mending: RefCell<Mending>,
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
        let (name, mending) = (name.to_owned(), RefCell::default());
        let cluster = Self { name, world, runtime, client, mending, _turn: turn };
        cluster.make(members, class);
        cluster
    }

    /// Makes it again.
    pub(crate) fn make(&self, members: u32, class: &str) {
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster", "metadata": {"name": self.name},
            "spec": {
                "engine": {"name": "ledger", "version": "1.0"},
                "pools": [{
                    "name": "a", "threshold": {"nodes": members},
                    "storage": {"capacity": "64Mi", "storageClassName": class},
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
        let storage = json!({"capacity": "64Mi", "storageClassName": "directory"});
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
        let began = Instant::now();
        loop {
            self.world.assert_sound();
            let object = self.get();
            if test(&object) {
                return object;
            }
            self.mend(&object);
            let shown = || serde_json::to_string_pretty(&object["status"]).unwrap();
            assert!(
                began.elapsed() < PATIENCE,
                "{}: waited until {what}:\n{}\n{}",
                self.name,
                shown(),
                self.world.logs()
            );
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Waits until what is wanted is so, everywhere.
    pub(crate) fn until_ready(&self) -> Value {
        self.until("it is Ready", |it| is(it, "Ready", "True"))
    }

    /// Waits until someone leads and clients are served, and says who.
    pub(crate) fn until_served(&self, writer: &Writer) -> String {
        let wanted = writer.count() + 5;
        let served = |it: &Value| leader(it).is_some() && writer.count() >= wanted;
        leader(&self.until("someone leads and clients are served", served)).unwrap()
    }

    /// Wants so many members, and waits until there are so many, and all is Ready.
    pub(crate) fn scale_to(&self, members: u32) {
        self.scale(members);
        let object = self.until_ready();
        for count in ["replicas", "readyReplicas"] {
            assert_eq!(object["status"][count], members, "{count} of {object:#}");
        }
    }

    pub(crate) fn primary(&self) -> String {
        self.get()["status"]["primary"].as_str().unwrap_or_default().to_owned()
    }

    /// A member that is not the primary.
    pub(crate) fn secondary(&self) -> String {
        let object =
            self.until("there is a secondary", |it| it["status"]["members"]["secondary"][0].is_string());
        object["status"]["members"]["secondary"][0].as_str().unwrap().to_owned()
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
        Writer::start(self.address(), self.name.clone())
    }

    /// Waits until it is Ready, serves, and every member has every entry that was acknowledged.
    pub(crate) fn holds_all(&self, writer: Writer) {
        self.until_ready();
        writer.until_more(5);
        let acknowledged = writer.acknowledged();
        drop(writer);
        let object = self.until_ready();
        let members = object["status"]["members"]["ready"].as_array().unwrap().clone();
        assert!(!members.is_empty(), "{object}");
        for member in members {
            self.has(member.as_str().unwrap(), &acknowledged);
        }
        println!("{}: {} acknowledged entries are there", self.name, acknowledged.len());
    }

    /// Waits until a member has these entries.
    pub(crate) fn has(&self, member: &str, entries: &[(u64, String)]) {
        let began = Instant::now();
        loop {
            let there: BTreeSet<(u64, String)> = self.read(member).unwrap_or_default().into_iter().collect();
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
    pub(crate) fn read(&self, member: &str) -> std::io::Result<Vec<(u64, String)>> {
        self.ledger(member)?.read(1, usize::MAX)
    }
}

/// Who leads, if anyone does.
pub(crate) fn leader(object: &Value) -> Option<String> {
    let primaries = object["status"]["members"]["primary"].as_array()?;
    primaries.first()?.as_str().map(str::to_owned)
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
