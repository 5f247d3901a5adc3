//! Ten thousand clusters at rest: an operator that starts on them writes nothing, and from then on only looks at Secrets.
//!
//! One cluster is made by the operator; the others are copies of its objects in namespaces of their own, with uids, addresses
//! and certificates of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use muster_apiserver::server::Server;
use muster_apiserver::server::faults::{Fault, Faults, Seen};
use muster_apiserver::store::{Expect, Key};
use muster_operator::certificates::{AgentCa, ClusterName, issue_member};
use muster_operator::clock::{RuntimeClock, SharedClock};
use muster_operator::context::Chance;
use muster_operator::lease::Authority;
use muster_operator::run::Operator;
use muster_test_agents::Place;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::world::{World, pause};

/// How many clusters there are: ten thousand, or `MUSTER_SCALE_CLUSTERS`.
fn clusters() -> u32 {
    let asked = std::env::var("MUSTER_SCALE_CLUSTERS").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(10_000)
}

/// How many members each has: what is at rest makes no calls however many there are, and a cluster of one takes half a
/// megabyte, with what its agent and the API server have of it.
fn members() -> i64 {
    let asked = std::env::var("MUSTER_SCALE_MEMBERS").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(1)
}

/// What stands for the namespace, for the first digits of a uid and for those of an address.
const NAMESPACE: &str = "~namespace~";
const UID: &str = "~uid~";
const ADDRESS: &str = "~ip~";

/// An object of the cluster that is copied.
struct Template {
    key: Key,
    text: String,
}

/// The objects of the cluster, with gaps for what differs in a copy.
fn templates(world: &World) -> Vec<Template> {
    let all = world.server.store().all().objects;
    let ours = all.into_iter().filter(|(key, _)| {
        let ours = key.namespace == "shop" || (&*key.resource, key.name.as_str()) == ("/namespaces", "shop");
        ours && !key.resource.ends_with("events")
    });
    let ours: Vec<(Key, String)> = ours
        .map(|(key, stored)| ((*key).clone(), String::from_utf8(stored.object.text().to_vec()).unwrap()))
        .collect();
    let uids: Vec<String> = ours.iter().filter_map(|(_, text)| field(text, "/metadata/uid")).collect();
    let pods = ours.iter().filter(|(key, _)| &*key.resource == "/pods");
    let ips: Vec<(String, String)> = pods
        .filter_map(|(key, text)| Some((field(text, "/status/podIP")?, address(ADDRESS, &key.name))))
        .collect();
    let made = ours.into_iter().map(|(key, mut text)| {
        for uid in &uids {
            text = text.replace(uid, &format!("{UID}{}", &uid[8..]));
        }
        for (from, to) in [("\"shop\"", format!("\"{NAMESPACE}\"")), (".shop.", format!(".{NAMESPACE}."))] {
            text = text.replace(from, &to);
        }
        for (from, to) in &ips {
            text = text.replace(&format!("\"{from}\""), &format!("\"{to}\""));
        }
        Template { key, text }
    });
    made.collect()
}

/// A text in an object.
fn field(object: &str, at: &str) -> Option<String> {
    let object: serde_json::Value = serde_json::from_str(object).ok()?;
    Some(object.pointer(at)?.as_str()?.to_owned())
}

/// The address of a Pod by the number of its cluster and its own.
fn address(cluster: &str, pod: &str) -> String {
    format!("10.{cluster}.{}", member(pod).rsplit('-').next().unwrap_or_default())
}

/// The member of this Pod.
fn member(pod: &str) -> &str {
    pod.strip_suffix("-0").unwrap_or(pod)
}

fn namespace(number: u32) -> String {
    format!("ns-{number:05}")
}

impl Template {
    /// The object in the copy of this number.
    fn copy(&self, number: u32) -> (Key, serde_json::Value) {
        let name = namespace(number);
        let ip = format!("{}.{}", number >> 8, number & 0xff);
        let text = self.text.replace(NAMESPACE, &name).replace(UID, &format!("{number:08x}"));
        let text = text.replace(ADDRESS, &ip);
        let mut key = self.key.clone();
        if key.namespace.is_empty() {
            key.name = name;
        } else {
            key.namespace = name;
        }
        (key, serde_json::from_str(&text).unwrap())
    }
}

/// The certificates of a copy, with the key of the hashes that its Members have.
fn certify(world: &World, number: u32, secrets: &mut BTreeMap<String, Secret>, chance: &mut StdRng) {
    let (now, cluster) = (world.fleet.now(), ClusterName::new(&namespace(number), "orders"));
    let ca = AgentCa::new(&cluster, now, chance).unwrap();
    for (name, secret) in secrets {
        let data = secret.data.get_or_insert_default();
        if name == "orders-agent-ca" {
            let hash_key: ByteString = data["hash.key"].clone();
            *data = ca.data();
            data.insert("hash.key".into(), hash_key);
        } else if let Some(member) = name.strip_suffix("-agent") {
            *data = issue_member(&ca, &cluster.member(member), now, chance).unwrap();
        }
    }
}

/// Puts the copy of this number into the server's store and into the fleet.
async fn add(world: &World, server: &Server, templates: &[Template], number: u32, chance: &mut StdRng) {
    let mut secrets = BTreeMap::new();
    let mut places = BTreeMap::new();
    for template in templates {
        let (key, object) = template.copy(number);
        match &*key.resource {
            "/secrets" => {
                let secret: Secret = serde_json::from_value(object).unwrap();
                secrets.insert(key.name.clone(), secret);
                continue;
            }
            "/pods" => {
                let text = |at: &str| object.pointer(at).and_then(|it| it.as_str()).unwrap().to_owned();
                let place = Place { pod_uid: text("/metadata/uid"), ip: text("/status/podIP") };
                places.insert(member(&key.name).to_owned(), place);
            }
            _ => {}
        }
        server.store().put(key, object, Expect::Absent).await.unwrap();
    }
    certify(world, number, &mut secrets, chance);
    for (name, secret) in secrets {
        let key = Key::new(&Arc::from("/secrets"), &namespace(number), &name);
        let mut object = serde_json::to_value(&secret).unwrap();
        object["apiVersion"] = "v1".into();
        object["kind"] = "Secret".into();
        server.store().put(key, object, Expect::Absent).await.unwrap();
    }
    assert!(world.fleet.copy("shop", "orders", &namespace(number), |member| places.get(member).cloned()));
}

/// How many calls there were, by verb and resource.
#[derive(Clone, Default)]
struct Count(Arc<std::sync::Mutex<BTreeMap<(&'static str, String), usize>>>);

impl Faults for Count {
    fn request(&self, seen: &Seen) -> Fault {
        *self.0.lock().unwrap().entry((seen.verb, seen.resource.clone())).or_default() += 1;
        Fault::None
    }
}

impl Count {
    fn take(&self) -> BTreeMap<(&'static str, String), usize> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Holds that nothing but Secrets was read, each as often as this.
    fn only_secrets(&self, templates: &[Template], times: usize) {
        let calls = self.take();
        println!("{calls:?}");
        let watches = |((verb, _), _): &(&(&str, String), &usize)| *verb == "watch";
        let others: Vec<_> = calls.iter().filter(|call| !watches(call)).collect();
        let secrets = templates.iter().filter(|template| &*template.key.resource == "/secrets").count();
        // With the one that was copied.
        let read = secrets * (clusters() as usize + 1) * times;
        assert_eq!(others, [(&("get", "/secrets".to_owned()), &read)]);
    }
}

/// The memory of this process, in MB.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<usize>().ok()).unwrap_or_default() / 1024
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_clusters_at_rest_cause_no_calls() {
    let mut world = World::new(1).await;
    world.create("orders", members()).await;
    world.ready("orders").await;
    world.rest().await;
    world.operator = None;
    let templates = templates(&world);
    let count = Count::default();
    let server = Server::builder().like(&world.server).faults(Arc::new(count.clone())).build().await;
    let mut chance = StdRng::seed_from_u64(1);
    for number in 1..=clusters() {
        add(&world, &server, &templates, number, &mut chance).await;
    }
    println!("{} clusters made: {} MB, {:?}", clusters(), memory(), super::costs::cpu());
    let clock: SharedClock = Arc::new(RuntimeClock::starting_at(world.fleet.now()));
    let authority = Authority::uncontested(7, clock.clone());
    let parts = world.parts(server.clone(), authority, clock, Chance::seeded(1));
    let operator = Operator::start(parts);
    pause(Duration::from_secs(60)).await;
    count.only_secrets(&templates, 1);
    println!("an operator has looked at all of them: {} MB, {:?}", memory(), super::costs::cpu());
    pause(Duration::from_secs(1800)).await;
    count.only_secrets(&templates, 3);
    println!("half an hour later: {} MB, {:?}", memory(), super::costs::cpu());
    drop(operator);
}
