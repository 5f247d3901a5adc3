//! Several operators, agents, and everything that can happen to them, by chance. Whatever happens:
//!
//! - no two have a mandate at the same time, by a common clock;
//! - every mandate has a higher epoch than all before it, and no epoch is used by two. One exception is known: who never
//!   saw a Lease that was deleted, and has a clock that is behind, begins lower, and is told so by the agents;
//! - when the trouble ends and one operator lives, it leads soon, its commands are obeyed, and its epoch stays.

use std::sync::Arc;
use std::time::Duration;

use kube::api::PostParams;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::time::Instant;

use crate::agents::{Agents, work};
use crate::process::Process;
use crate::world::{World, all_the_time};

/// How many operators there are.
const OPERATORS: usize = 3;
/// How long there is trouble, in seconds.
const TROUBLE: u64 = 150;
/// Within how many seconds someone leads, and is obeyed, when the trouble has ended. A request that is late (9), a Lease that is
/// held (15), one that is created (15), one who is outranked and waits (60), and some looks.
const SOON: u64 = 110;
/// For how many seconds nothing changes then.
const PEACE: u64 = 40;

/// What is seen of all of them.
struct Story {
    seed: u64,
    world: World,
    chance: StdRng,
    processes: Vec<Process>,
    agents: Arc<Agents>,
    /// Clocks may be wrong.
    skewed: bool,
    /// Leases may be deleted, or their epoch garbled.
    tampered: bool,
    /// The mandates that were seen, by epoch and holder.
    mandates: Vec<(u64, String)>,
}

impl Story {
    async fn new(seed: u64) -> Self {
        let mut chance = StdRng::seed_from_u64(seed);
        let (skewed, tampered) = (chance.random(), chance.random());
        let world = World::new(seed).await;
        let (processes, agents, mandates) = (Vec::new(), Arc::default(), Vec::new());
        let mut story = Self { seed, world, chance, processes, agents, skewed, tampered, mandates };
        for _ in 0..OPERATORS {
            story.add();
        }
        story
    }

    fn add(&mut self) {
        let skew = self.skew();
        let mut process = self.world.start(skew);
        let ending = Duration::from_millis(self.chance.random_range(0..4_000));
        let (authority, agents) = (process.authority.clone(), self.agents.clone());
        process.also(work(authority, agents, process.identity.clone(), ending));
        self.processes.push(process);
    }

    fn skew(&mut self) -> i64 {
        if self.skewed { self.chance.random_range(-2_000..2_000) } else { 0 }
    }

    fn any(&mut self) -> usize {
        self.chance.random_range(0..self.processes.len())
    }

    /// Something happens.
    async fn happen(&mut self) {
        let one = self.any();
        match self.chance.random_range(0..16) {
            0 | 1 => {
                self.processes.remove(one);
                self.add();
            }
            2 => self.processes[one].shut_down(),
            3 | 4 => self.processes[one].brake.stop(),
            5 | 6 => self.processes.iter().for_each(|process| process.brake.go()),
            7 => self.processes[one].link.fall_silent(),
            8 => self.processes[one].link.refuse(),
            9 | 10 => self.processes.iter().for_each(|process| process.link.mend()),
            11 if self.skewed => {
                let by = self.skew();
                self.processes[one].clock.set(by);
            }
            12 | 13 if self.tampered => self.tamper().await,
            14 => self.world.patch(json!({"metadata": {"labels": {"by": one.to_string()}}})).await,
            _ => self.world.patch(json!({"spec": {"holderIdentity": "nobody"}})).await,
        }
    }

    /// A person does what a person should not do.
    async fn tamper(&mut self) {
        let saved = self.world.lease().await;
        match self.chance.random_range(0..6) {
            0..3 => self.world.delete().await,
            3 => self.world.write_epoch("garbled").await,
            4 => self.world.patch(json!({"spec": {"holderIdentity": ""}})).await,
            _ => {
                self.world.delete().await;
                let Some(mut lease) = saved.filter(is_held) else { return };
                (lease.metadata.uid, lease.metadata.resource_version) = (None, None);
                let _ = self.world.leases().create(&PostParams::default(), &lease).await;
            }
        }
    }

    /// Who ended is started anew.
    fn restart(&mut self) {
        let ended = |process: &Process| process.is_told_to_end() && process.has_ended();
        let before = self.processes.len();
        self.processes.retain(|process| !ended(process));
        for _ in self.processes.len()..before {
            self.add();
        }
    }

    /// Checks what must always be so.
    fn look(&mut self) {
        let leading: Vec<_> =
            self.processes.iter().filter_map(|process| Some((process.leads()?, &process.identity))).collect();
        assert!(leading.len() <= 1, "MUSTER_SEED={}: two lead: {leading:?}", self.seed);
        let Some((epoch, holder)) = leading.first() else { return };
        let known = self.mandates.last().is_some_and(|(last, by)| (last, by) == (epoch, *holder));
        if !known {
            let higher = self.mandates.iter().all(|(before, _)| before < epoch);
            let excused = self.skewed && self.tampered;
            assert!(higher || excused, "MUSTER_SEED={}: {epoch} after {:?}", self.seed, self.mandates);
            self.mandates.push((*epoch, (*holder).clone()));
        }
    }

    async fn pass(&mut self, time: Duration) {
        let end = Instant::now() + time;
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        while Instant::now() < end {
            ticks.tick().await;
            self.look();
        }
    }

    async fn trouble(&mut self) {
        self.world.trouble.begin(self.seed);
        let end = Instant::now() + Duration::from_secs(TROUBLE);
        while Instant::now() < end {
            let pause = Duration::from_millis(self.chance.random_range(50..9_000));
            self.pass(pause).await;
            self.happen().await;
            self.restart();
        }
        self.world.trouble.end();
        for process in &self.processes {
            process.brake.go();
            process.link.mend();
        }
    }

    /// Someone leads soon, and it stays so.
    async fn peace(&mut self) {
        let (seed, end) = (self.seed, Instant::now() + Duration::from_secs(SOON));
        let leader = |story: &Self| story.processes.iter().find_map(Process::leads);
        // Requests from before may still come late.
        self.pass(Duration::from_secs(10)).await;
        let obeyed = self.agents.obeyed();
        while self.agents.obeyed() < obeyed + 5 {
            assert!(Instant::now() < end, "MUSTER_SEED={seed}: nobody leads, or nobody obeys");
            self.restart();
            self.pass(Duration::from_secs(1)).await;
        }
        let (epoch, obeyed) = (leader(self), self.agents.obeyed());
        all_the_time(PEACE, || {
            assert_eq!(leader(self), epoch, "MUSTER_SEED={seed}: the epoch does not stay");
        })
        .await;
        assert!(self.agents.obeyed() >= obeyed + PEACE, "MUSTER_SEED={seed}: commands are not obeyed");
        let wrongs = self.agents.wrongs();
        assert!(wrongs.is_empty() || self.skewed && self.tampered, "MUSTER_SEED={seed}: {wrongs:?}");
    }
}

/// A person does not put back a Lease that was released: nobody could tell that from a release.
fn is_held(lease: &k8s_openapi::api::coordination::v1::Lease) -> bool {
    let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
    holder.is_some_and(|holder| !holder.is_empty())
}

/// How many seeds there are, unless `MUSTER_SEEDS` says more.
const SEEDS: u64 = 100;

#[test]
fn whatever_happens_one_leads_at_a_time_and_epochs_grow() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds = number("MUSTER_SEED").map(|seed| seed..=seed);
    let seeds = seeds.unwrap_or_else(|| 1..=number("MUSTER_SEEDS").unwrap_or(SEEDS));
    let mut mandates = 0;
    for seed in seeds.clone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        mandates += runtime.unwrap().block_on(async {
            let mut story = Story::new(seed).await;
            story.trouble().await;
            story.peace().await;
            story.mandates.len()
        });
    }
    assert!(mandates >= seeds.count() * 2, "so little happened that nothing is proven: {mandates}");
}
