//! Hours of happenings by chance: a seed draws a cluster and what befalls it; then comes calm, and it has to become live,
//! where need be with the help of a person who does what status advises.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use muster_test_agents::Pace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::cores::{self, alone, everything};
use super::happenings::{Happening, Harm};
use super::help;
use super::lives::Wait;
use super::samples::{self, Software};
use super::troubles::Deed;
use super::world::{Base, World, pause};

/// How many seeds there are: as many as the project promises, or a sample for the inner loop.
const SEEDS: u64 = 10_000;
const SAMPLE: u64 = 300;
/// How long all there is to wait for takes at most, when there is calm.
const PATIENCE: Duration = Duration::from_secs(3600);
/// When all that was asked for is done, or given up: longer than a switchover may take.
const OVER: Duration = Duration::from_secs(150);
/// For how long nothing is written then.
const REST: Duration = Duration::from_secs(30);

/// A run by its seed.
struct Seed(u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} ", self.0)
    }
}

/// What a seed draws.
#[derive(Clone, Debug)]
struct Drawn {
    software: Software,
    pools: Vec<usize>,
    allow_loss: bool,
    /// Whether it is created in the course of it.
    from_nothing: bool,
    /// The time between two signs of life, and how long it lasts.
    heartbeat: Option<Duration>,
    lasts: Duration,
    /// How many things happen meanwhile: each is work for everyone, and time that passes is not.
    happenings: u32,
}

impl Drawn {
    fn new(chance: &mut StdRng) -> Self {
        let software = samples::SOFTWARE[chance.random_range(0..samples::SOFTWARE.len())];
        // Few are quick, and have all that many have; some are many.
        let pools = match chance.random_range(0..32) {
            0..3 => vec![1],
            3..12 => vec![2],
            12..24 => vec![3],
            24 => vec![4],
            25 => vec![5],
            26..29 => vec![2, 1],
            _ => vec![1, 1],
        };
        // Most are minutes in which much happens; some are hours, in which everything is told anew several times. Seldom
        // there is a sign of life each second: it says nothing new, and costs as much as what does.
        let (beat, lasts) = match chance.random_range(0..32) {
            0 => (None, 3600 * chance.random_range(1..=3)),
            1..4 => (Some(1), 120),
            _ => (None, 60 * chance.random_range(2..=20)),
        };
        Self {
            software,
            pools,
            allow_loss: chance.random_range(0..4) == 0,
            from_nothing: chance.random_range(0..16) == 0,
            heartbeat: beat.map(Duration::from_secs),
            lasts: Duration::from_secs(lasts),
            happenings: chance.random_range(1..=3),
        }
    }
}

/// The worlds that seeds begin in, made when one is needed first.
#[derive(Default)]
struct Bases(Mutex<BTreeMap<String, Arc<OnceLock<Base>>>>);

impl Bases {
    fn of(&self, software: Software, pools: &[usize]) -> Arc<OnceLock<Base>> {
        let key = format!("{software:?} {pools:?}");
        let base = self.0.lock().unwrap().entry(key).or_default().clone();
        base.get_or_init(|| {
            let empty = alone(Base::empty(software));
            if pools.is_empty() {
                return empty;
            }
            alone(async {
                let mut world = World::begin(&empty, 1, Pace::default()).await;
                world.start_operator();
                world.create(pools).await;
                Wait::Live.wait(&mut world).await;
                world.base().await
            })
        });
        base
    }
}

/// One run.
async fn run(seed: u64, drawn: &Drawn, base: &Base, chance: StdRng) {
    let pace = Pace { heartbeat: drawn.heartbeat, ..Pace::default() };
    let mut world = World::begin(base, seed, pace).await;
    world.start_operator();
    if drawn.from_nothing {
        world.create(&drawn.pools).await;
    }
    if drawn.allow_loss {
        world.fleet.accept_loss(samples::NAMESPACE, samples::CLUSTER, true);
        world.edit(json!({"spec": {"failover": {"allowLoss": true}}})).await;
    }
    let mut harm = Harm::new(chance, drawn.pools.clone());
    harm.loss_allowed = drawn.allow_loss;
    let end = Instant::now() + drawn.lasts;
    let longest = u64::try_from(drawn.lasts.as_millis()).unwrap() / u64::from(drawn.happenings);
    for _ in 0..drawn.happenings {
        let wait = harm.wait(longest);
        world.pass(wait).await;
        let happening = Happening::draw(&mut harm, &world);
        world.note(&format!("{happening:?}"));
        happening.happen(&mut world, &mut harm).await;
    }
    world.pass(end.saturating_duration_since(Instant::now())).await;
    harm.mend(&mut world).await;
    calm(&mut world, &mut harm).await;
}

/// It becomes live, and stays so without another write.
async fn calm(world: &mut World, harm: &mut Harm) {
    let began = Instant::now();
    let mut live = None;
    while live.is_none_or(|since: Instant| since.elapsed() < Duration::from_secs(5)) {
        world.pass(Duration::from_secs(1)).await;
        live = world.is_live().then(|| live.unwrap_or_else(Instant::now));
        if live.is_none() {
            help::help(world, harm, began.elapsed()).await;
        }
        assert!(began.elapsed() < PATIENCE, "it does not become live:\n{}", world.describe());
    }
    pause(OVER).await;
    world.troubles.arm(None);
    let before = world.oracle.copy()["status"].to_string();
    world.pass(REST).await;
    assert!(world.is_live(), "it does not stay live:\n{}", world.describe());
    let done: usize = Deed::ALL.map(|deed| world.troubles.counted(deed)).into_iter().sum();
    assert!(
        done == 0,
        "it does not come to rest:\n{}\nbefore: {before}\nafter: {}",
        world.describe(),
        world.oracle.copy()["status"]
    );
}

#[test]
fn whatever_happens_it_becomes_live_and_never_said_so_before() {
    let number = std::env::var("MUSTER_SEEDS").ok().map(|text| text.parse().unwrap());
    let many = number.unwrap_or(if everything() || cores::replayed().is_some() { SEEDS } else { SAMPLE });
    let seeds: Vec<Seed> = (1..=many).map(Seed).filter(cores::is_asked_for).collect();
    let bases = Bases::default();
    cores::all(&seeds, |Seed(seed)| {
        let mut chance = StdRng::seed_from_u64(*seed);
        let drawn = Drawn::new(&mut chance);
        let pools = if drawn.from_nothing { &[][..] } else { &drawn.pools };
        let base = bases.of(drawn.software, pools);
        alone(run(*seed, &drawn, base.get().unwrap(), chance));
    });
}

/// A status that nobody wrote who knows anything.
pub(crate) fn garbage() -> Value {
    json!({"status": {"phase": "Failed", "readyReplicas": 99, "conditions": [], "observedGeneration": 0}})
}
