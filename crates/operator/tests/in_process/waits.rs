//! R1.2: a wait for Ready that begins right after a change of the spec never ends before the change is live. Thousands of
//! times, while the children are slow and are looked at in another order than they were changed in.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use kube::ResourceExt;
use kube::api::ListParams;
use kube::runtime::wait::await_condition;
use muster_api::ReplicatedCluster;
use serde_json::json;

use super::samples;
use super::world::{World, is_ready};

/// Clusters that change side by side.
const CLUSTERS: usize = 8;
/// How often each of them is changed: thousands of times in all.
const CHANGES: usize = 250;
/// The longest time that a child waits until it is looked at.
const SLOW: Duration = Duration::from_secs(3);
/// How long a wait may take, in the world's own time.
const WITHIN: Duration = Duration::from_secs(900);

/// What a cluster was asked for last.
#[derive(Clone, Debug)]
struct Asked {
    name: String,
    size: String,
    version: &'static str,
    note: String,
    nodes: i64,
}

impl Asked {
    /// The next thing that somebody wants.
    fn change(&mut self, round: usize) {
        match round % 8 {
            0 => self.size = format!("{}", round + 2),
            3 => self.version = if self.version == "1" { "2" } else { "1" },
            6 => self.nodes = 3 - self.nodes,
            _ => self.note = format!("{round}"),
        }
    }

    async fn apply(&self, world: &World) {
        let pools = samples::manifest(&self.name, self.nodes)["spec"]["pools"].clone();
        let engine = json!({"version": self.version, "parameters": {"size": self.size}});
        let service = json!({"annotations": {"example.org/note": self.note}});
        world
            .patch(&self.name, json!({"spec": {"engine": engine, "service": service, "pools": pools}}))
            .await;
    }

    /// What was asked for is there, down to the Pods.
    async fn is_live(&self, world: &World) {
        let Self { name, size, version, note, nodes } = self;
        let service = world.api::<Service>().get(name).await.unwrap();
        assert_eq!(&service.annotations()["example.org/note"], note, "{self:?}");
        let labelled = ListParams::default().labels(&format!("muster.dev/cluster={name}"));
        let members = world.members().list(&labelled).await.unwrap().items;
        assert_eq!(members.len(), usize::try_from(*nodes).unwrap(), "{self:?}");
        for member in members {
            let workload = member.spec.workload.as_ref().unwrap();
            let data = world.api::<ConfigMap>().get(&workload.config).await.unwrap().data.unwrap();
            assert_eq!(&data["parameters.size"], size, "{self:?}");
            let set = world.api::<StatefulSet>().get(&member.name_any()).await.unwrap();
            let pod = world.api::<Pod>().get(&format!("{}-0", member.name_any())).await.unwrap();
            let newest = set.status.unwrap().update_revision.unwrap();
            assert_eq!(pod.labels()["controller-revision-hash"], newest, "{self:?}");
            assert!(pod.metadata.deletion_timestamp.is_none(), "{self:?}");
            let mut containers = pod.spec.as_ref().unwrap().containers.iter();
            let main = containers.find(|container| container.name == "main").unwrap();
            assert_eq!(main.image, Some(format!("ledger:{version}")), "{self:?}");
        }
        assert_eq!(world.fleet.serving("shop", name).len(), 1, "{self:?}");
    }
}

/// As `kubectl wait` does: a condition of an older generation is none.
async fn wait(world: &World, name: &str) {
    let ready = |cluster: Option<&ReplicatedCluster>| cluster.is_some_and(is_ready);
    let waited = tokio::time::timeout(WITHIN, await_condition(world.clusters(), name, ready)).await;
    assert!(waited.is_ok(), "{}", world.describe(name).await);
}

async fn live(world: &World, number: usize) {
    let name = format!("c{number}");
    world.create(&name, 1).await;
    wait(world, &name).await;
    let mut asked = Asked { name, size: "1".into(), version: "1", note: "none".into(), nodes: 1 };
    for round in 0..CHANGES {
        asked.change(round + number);
        asked.apply(world).await;
        wait(world, &asked.name).await;
        asked.is_live(world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn r1_2_ready_never_returns_early() {
    let world = World::new(23).await;
    world.kubelet.turn(|knobs| knobs.delay = SLOW);
    futures::future::join_all((0..CLUSTERS).map(|number| live(&world, number))).await;
    world.unharmed();
}
