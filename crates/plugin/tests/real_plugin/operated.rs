//! The commands with a real operator at work: what they ask for has its effect.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use muster_operator::clock::SystemClock;
use muster_test_agents::Pace;
use muster_test_agents::kubelet::Part;
use muster_test_world::{Process, World, samples};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::servers::on_both;
use crate::stage::Stage;

/// A namespace with an operator of its own.
struct Operated<'a> {
    stage: &'a Stage,
    world: World,
    // Fields drop in this order: what runs goes before what it runs on.
    _operator: Process,
    runtime: Runtime,
}

impl<'a> Operated<'a> {
    /// A cluster of three, which is live.
    fn new(stage: &'a Stage, seed: u64) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (world, operator) = runtime.block_on(async {
            let client = client(stage.kubeconfig()).await;
            let pace = Pace {
                looking: Duration::from_millis(50),
                starting: Duration::from_millis(50),
                ..Pace::default()
            };
            let part = Part { namespace: Some(stage.namespace.clone()), only_kubelet: false, collects: true };
            let world =
                World::new(client.clone(), &stage.namespace, Arc::new(SystemClock), pace, part, seed).await;
            let operator = Process::start(world.setup(&client, Some(&stage.namespace), seed));
            (world, operator)
        });
        let mut cluster = serde_json::to_value(samples::cluster("orders", 3)).unwrap();
        cluster["metadata"]["namespace"] = stage.namespace.clone().into();
        stage.apply(&cluster);
        stage.muster("wait orders --for=ready --timeout=100s").succeeded();
        Self { stage, world, _operator: operator, runtime }
    }

    fn serving(&self) -> Vec<String> {
        self.world.fleet.serving(&self.stage.namespace, "orders")
    }

    /// Does something to the agents.
    fn fleet<T>(&self, deed: impl FnOnce(&muster_test_agents::Fleet, &str) -> T) -> T {
        let _runtime = self.runtime.enter();
        deed(&self.world.fleet, &self.stage.namespace)
    }

    /// Waits until this is so of the cluster.
    fn until(&self, ask: impl Fn(&Value) -> bool) {
        self.stage.until("rcl", "orders", |cluster| ask(cluster).then_some(()));
    }

    fn ready(&self) {
        self.stage.muster("wait orders --for=ready --timeout=100s").succeeded();
    }
}

async fn client(kubeconfig: &Path) -> Client {
    let file = Kubeconfig::read_from(kubeconfig).unwrap();
    let mut config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    config.proxy_url = None;
    Client::try_from(config).unwrap()
}

/// A condition's status.
fn condition<'a>(object: &'a Value, kind: &str) -> &'a str {
    let all = object["status"]["conditions"].as_array();
    let found = all.and_then(|all| all.iter().find(|condition| condition["type"] == kind));
    found.and_then(|condition| condition["status"].as_str()).unwrap_or_default()
}

#[test]
fn what_is_shown_planned_and_paused_with_an_operator_at_work() {
    on_both("operated", |stage| {
        let operated = Operated::new(stage, 91);
        stage.muster("status orders").succeeded().says(&[
            "running (test_",
            "Running",
            "orders-a-0",
            "primary",
        ]);
        stage.muster("tree orders").succeeded().says(&[
            "Member/orders-a-2",
            "StatefulSet/orders-a-2",
            "Service/orders",
        ]);
        let grown = json!({"apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
            "metadata": {"name": "orders"},
            "spec": {"engine": {"name": "ledger"}, "pools": samples::pools(4, "Retain")}});
        stage.muster_with("plan -f -", &grown.to_string()).succeeded().says(&["orders-a-3"]);
        assert_eq!(
            stage.kubectl(&["get", "mbr", "orders-a-3", "-n", &stage.namespace]).code,
            Some(1),
            "a plan does nothing"
        );

        stage.muster("stop clustering orders --wait --timeout=60s").succeeded();
        let stopped = stage.get("rcl", "orders");
        assert_eq!(
            (condition(&stopped, "ClusteringActive"), condition(&stopped, "Ready")),
            ("False", "Unknown")
        );
        stage.muster("start clustering orders --wait --timeout=60s").succeeded();
        operated.ready();

        stage.muster("stop reconciliation orders --wait --timeout=60s").succeeded();
        stage.patch("rcl", "orders", &json!({"spec": {"engine": {"version": "2"}}}));
        stage.muster("wait orders --for=ready --timeout=2s").failed(3, &[]);
        assert_eq!(stage.get("rcl", "orders")["status"]["observedGeneration"], 1, "nothing is applied");
        stage.muster("start reconciliation orders").succeeded();
        operated.ready();
        assert_eq!(stage.get("rcl", "orders")["status"]["currentVersion"], "2");

        stage.muster("disable orders orders-a-2 --wait --timeout=60s").succeeded();
        assert_eq!(stage.get("mbr", "orders-a-2")["status"]["currentState"], "Disabled");
        stage.muster("enable orders orders-a-2 --wait --timeout=60s").succeeded();
        assert_eq!(stage.get("mbr", "orders-a-2")["status"]["currentState"], "Enabled");
        operated.world.unharmed();
    });
}

#[test]
fn what_is_asked_for_is_done_by_an_operator_at_work() {
    on_both("done", |stage| {
        let operated = Operated::new(stage, 92);
        stage
            .muster("switchover orders --to orders-a-1 --timeout=60s")
            .succeeded()
            .says(&["switchover done"]);
        assert_eq!(operated.serving(), ["orders-a-1"]);
        operated.ready();

        operated.fleet(|fleet, namespace| fleet.power_off(namespace, "orders-a-1"));
        operated.until(|cluster| cluster["status"]["recovery"]["blockedBy"] == "MemberMissing");
        stage.muster("fence orders orders-a-1 --yes --timeout=60s").succeeded().says(&["fence done"]);
        operated.until(|_| !operated.serving().is_empty());
        operated.fleet(|fleet, namespace| fleet.power_on(namespace, "orders-a-1"));
        operated.ready();

        // A member holds what nobody else ever had.
        let errant = if operated.serving() == ["orders-a-2"] { "orders-a-0" } else { "orders-a-2" };
        operated.fleet(|fleet, namespace| {
            fleet.with(namespace, errant, |node| "foreign".clone_into(&mut node.volume.history));
            fleet.restart(namespace, errant);
        });
        operated.until(|cluster| cluster["status"]["members"]["errant"] == json!([errant]));
        let rejoin = format!("rejoin orders {errant} --discard --yes --timeout=60s");
        stage.muster(&rejoin).succeeded().says(&["rejoin done"]);
        operated.ready();

        // Only one disk is left.
        let left = operated.serving().pop().unwrap();
        operated.fleet(|fleet, namespace| {
            for member in ["orders-a-0", "orders-a-1", "orders-a-2"].into_iter().filter(|one| *one != left) {
                fleet.wipe(namespace, member);
            }
            fleet.restart(namespace, &left);
        });
        // A request holds for what was seen: it is made when all have said what they hold.
        operated.until(|cluster| {
            let recovery = &cluster["status"]["recovery"];
            let reported = recovery["reported"].as_array().map_or(0, Vec::len);
            recovery["blockedBy"] == "DataMissing" && reported == 3
        });
        stage
            .muster(&format!("recover orders --seed {left} --yes --timeout=60s"))
            .succeeded()
            .says(&["recover done"]);
        operated.ready();
        assert_eq!(operated.serving(), [left.as_str()]);

        forget(&operated, &left);
        operated.world.unharmed();
    });
}

#[test]
fn what_gives_up_data_is_done_for_a_person_who_says_so_and_for_nobody_else() {
    on_both("lost", |stage| {
        let operated = Operated::new(stage, 93);
        let blocked = |by: &'static str, reported: usize| {
            move |cluster: &Value| {
                let recovery = &cluster["status"]["recovery"];
                let heard = recovery["reported"].as_array().map_or(0, Vec::len);
                recovery["blockedBy"] == by && heard == reported
            }
        };
        let all = ["orders-a-0", "orders-a-1", "orders-a-2"];
        // What is not needed is refused.
        stage
            .muster("forget orders orders-a-1 --yes --timeout=60s")
            .failed(4, &["orders-a-1 runs: disable or delete it instead"]);
        stage
            .muster("recover orders --seed orders-a-1 --yes --timeout=60s")
            .failed(4, &["serves already, orders-a-1 was not needed"]);

        // Power fails, and one machine comes back: one disk of three is not enough to go by.
        operated.fleet(|fleet, namespace| {
            for member in all {
                fleet.power_off(namespace, member);
            }
            fleet.power_on(namespace, "orders-a-1");
        });
        operated.until(blocked("MemberMissing", 1));
        stage.muster("switchover orders --timeout=60s").failed(4, &["switchover refused"]);
        stage.muster("fence orders orders-a-0 orders-a-2 --yes --timeout=60s").succeeded();
        operated.until(blocked("DataMissing", 1));
        stage.muster("recover orders --replicas 1").failed(4, &["not done", "--yes"]);
        assert_eq!(operated.serving(), Vec::<String>::new());
        stage.muster("recover orders --replicas 1 --yes --timeout=60s").succeeded().says(&["recover done"]);
        operated.until(|_| operated.serving() == ["orders-a-1"]);
        stage.until("rcl", "orders", |_| {
            let said = stage.kubectl(&["get", "events", "-n", &stage.namespace]).succeeded();
            (said.out.contains("DataMayBeLost") && said.out.contains("restoreReplicas")).then_some(())
        });
        operated.fleet(|fleet, namespace| {
            for member in ["orders-a-0", "orders-a-2"] {
                fleet.power_on(namespace, member);
            }
        });
        operated.ready();

        // Every disk is lost.
        operated.fleet(|fleet, namespace| all.iter().for_each(|member| fleet.wipe(namespace, member)));
        operated.until(blocked("AllEmpty", 3));
        stage
            .muster("recover orders --seed orders-a-2 --yes --timeout=60s")
            .failed(4, &["is empty: this is refused without --accept-data-loss"]);
        assert_eq!(operated.serving(), Vec::<String>::new());
        stage.muster("recover orders --seed orders-a-2 --accept-data-loss").failed(4, &["ALL earlier data"]);
        stage
            .muster("recover orders --seed orders-a-2 --accept-data-loss --yes --timeout=60s")
            .succeeded()
            .says(&["recover done"]);
        operated.ready();
        assert_eq!(operated.serving(), ["orders-a-2"]);
        operated.world.unharmed();
    });
}

/// A machine that does not return: it is vouched for, and then forgotten.
fn forget(operated: &Operated<'_>, primary: &str) {
    let stage = operated.stage;
    let dead = if primary == "orders-a-2" { "orders-a-1" } else { "orders-a-2" };
    operated.fleet(|fleet, namespace| fleet.power_off(namespace, dead));
    operated.until(|cluster| condition(cluster, "Ready") != "True");
    stage.muster(&format!("fence orders {dead} --yes --timeout=60s")).succeeded();
    stage.muster(&format!("forget orders {dead} --yes --timeout=60s")).succeeded().says(&["forget done"]);
    // A person says so to Kubernetes too.
    let pod = format!("{dead}-0");
    stage.until("pod", &pod, |pod| pod["metadata"]["deletionTimestamp"].is_string().then_some(()));
    stage
        .kubectl(&["delete", "pod", &pod, "-n", &stage.namespace, "--force", "--grace-period=0"])
        .succeeded();
    operated.until(|cluster| {
        let ready = cluster["status"]["members"]["ready"].as_array();
        ready.is_some_and(|ready| ready.contains(&json!("orders-a-3")))
    });
    operated.ready();
}
