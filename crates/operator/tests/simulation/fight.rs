//! Two whole operators that fight for the Lease, killed at random, while people delete it under them and machines restart.
//!
//! - Whoever writes a status has a mandate, and a later one than everyone who wrote before: no status flips back.
//! - No agent obeys an old epoch after it heard of a newer one (the fleet says so).
//! - Whoever leads takes back in time what has become untrue, and nobody says Ready where it is not so.
//! - They do not outbid each other: an epoch is raised only where a Lease is taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams};
use muster_operator::lease::{Authority, Elector, Identity, Options};
use muster_operator::run::Operator;
use muster_test_agents::Pace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::cores::{self, alone, everything};
use super::lives::Beginning;
use super::oracle::Oracle;
use super::samples::{CLUSTER, NAMESPACE};
use super::wire::Wire;
use super::world::{Base, World};

/// How many fights there are: all, or a sample.
const FIGHTS: u64 = 300;
const SAMPLE: u64 = 8;
/// How long they fight.
const LASTS: Duration = Duration::from_secs(240);
/// How soon one of them leads and all is well when they are left alone: a Lease that is held, one that is created, one who
/// was outranked, and what it takes to be live.
const SOON: Duration = Duration::from_secs(300);

struct Fight(u64);

impl fmt::Display for Fight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fight {} ", self.0)
    }
}

/// Who writes, and under which mandates.
#[derive(Clone, Default)]
pub(crate) struct Writers(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    authorities: BTreeMap<String, Authority>,
    highest: u64,
    wrongs: Vec<String>,
}

impl Writers {
    fn add(&self, name: &str, authority: Authority) {
        self.0.lock().unwrap().authorities.insert(name.to_owned(), authority);
    }

    /// This operator writes a status now.
    pub(crate) fn writes(&self, name: &str) {
        let mut known = self.0.lock().unwrap();
        let Some(mandate) = known.authorities.get(name).map(Authority::now) else { return };
        match mandate {
            Err(why) => known.wrongs.push(format!("{name} writes a status, and {why}")),
            Ok(mandate) if mandate.epoch < known.highest => {
                let highest = known.highest;
                known
                    .wrongs
                    .push(format!("{name} writes under {}, and {highest} has written", mandate.epoch));
            }
            Ok(mandate) => known.highest = mandate.epoch,
        }
    }

    fn wrongs(&self) -> Vec<String> {
        self.0.lock().unwrap().wrongs.clone()
    }
}

/// One operator process, with its elector.
struct Process {
    name: String,
    wire: Arc<Wire>,
    authority: Authority,
    oracle: Oracle,
    /// Its elector, and what tells the oracle whether it leads.
    tasks: [JoinHandle<()>; 2],
    _operator: Operator,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.wire.die();
        self.tasks.iter().for_each(JoinHandle::abort);
        self.oracle.lead(&self.name, false);
    }
}

/// Tells the oracle whether this operator leads, for as long as it lives.
async fn tell(oracle: Oracle, name: String, authority: Authority) {
    let mut epochs = authority.epochs();
    loop {
        let leads = epochs.borrow_and_update().is_some();
        oracle.lead(&name, leads);
        if epochs.changed().await.is_err() {
            return;
        }
    }
}

impl Process {
    fn start(world: &mut World, writers: &Writers, chance: &mut StdRng) -> Self {
        let identity = Identity::fresh("operator", chance);
        let name = identity.as_str().to_owned();
        let wire = Arc::new(Wire::default());
        let client = wire.client(&world.server, &name);
        let elector = Elector::new(client, Options::new(None, identity), world.clock.clone());
        let authority = elector.authority();
        writers.add(&name, authority.clone());
        let parts = world.parts(&wire, authority.clone(), &name);
        let operator = Operator::start(parts);
        let elector = tokio::spawn(async move { drop(elector.run(std::future::pending()).await) });
        let oracle = world.oracle.clone();
        let told = tokio::spawn(tell(oracle.clone(), name.clone(), authority.clone()));
        Self { name, wire, authority, oracle, tasks: [elector, told], _operator: operator }
    }
}

async fn fight(base: &Base, seed: u64) {
    let mut chance = StdRng::seed_from_u64(seed);
    let mut world = World::begin(base, seed, Pace::default()).await;
    let writers = Writers::default();
    world.troubles.report_to(&writers);
    let mut processes: Vec<Process> =
        (0..2).map(|_| Process::start(&mut world, &writers, &mut chance)).collect();
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), "muster-system");
    let (mut takings, mut size, first) = (2, 1, seconds(&world));
    let end = Instant::now() + if everything() { LASTS } else { LASTS / 4 };
    while Instant::now() < end {
        world.pass(Duration::from_millis(chance.random_range(100..20_000))).await;
        look(&processes, &writers);
        match chance.random_range(0..6) {
            0 | 1 => {
                let one = chance.random_range(0..processes.len());
                processes.remove(one);
                processes.push(Process::start(&mut world, &writers, &mut chance));
                takings += 1;
            }
            2 => {
                drop(leases.delete("muster-operator", &DeleteParams::default()).await);
                takings += 2;
            }
            3 => {
                size += 1;
                world.edit(json!({"spec": {"engine": {"parameters": {"size": size.to_string()}}}})).await;
            }
            4 => {
                let members = world.fleet.members(NAMESPACE, CLUSTER);
                world.restart(&members[..1]);
            }
            _ => drop(world.fleet.write(NAMESPACE, CLUSTER).is_some()),
        }
    }
    let began = Instant::now();
    while !world.is_live() || leader(&processes).is_none() {
        world.pass(Duration::from_millis(500)).await;
        look(&processes, &writers);
        assert!(began.elapsed() < SOON, "nobody makes it live:\n{}", world.describe());
    }
    // Someone may not have noticed yet that the Lease is gone.
    world.pass(SOON).await;
    let epoch = leader(&processes);
    assert!(world.is_live() && epoch.is_some(), "it does not stay live:\n{}", world.describe());
    let epoch = epoch.unwrap();
    // Each taking is above the one before, and at least the time of day.
    let most = seconds(&world).max(first) + takings;
    assert!(epoch <= most, "the epoch {epoch} is above {most}: {takings} takings");
    world.pass(Duration::from_secs(60)).await;
    look(&processes, &writers);
    assert_eq!(leader(&processes), Some(epoch), "the epoch does not stay");
}

fn seconds(world: &World) -> u64 {
    u64::try_from(world.fleet.now().as_second()).unwrap()
}

fn leader(processes: &[Process]) -> Option<u64> {
    processes.iter().find_map(|process| Some(process.authority.now().ok()?.epoch))
}

fn look(processes: &[Process], writers: &Writers) {
    let leading = processes.iter().filter(|process| process.authority.now().is_ok()).count();
    assert!(leading <= 1, "two lead");
    assert_eq!(writers.wrongs(), Vec::<String>::new());
}

#[test]
fn two_operators_that_fight_for_the_lease_do_no_harm() {
    let many = if everything() || cores::replayed().is_some() { FIGHTS } else { SAMPLE };
    let fights: Vec<Fight> = (1..=many).map(Fight).filter(cores::is_asked_for).collect();
    if fights.is_empty() {
        return;
    }
    let base = Beginning::Members(2).base();
    cores::all(&fights, |Fight(seed)| alone(fight(&base, *seed)));
}
