//! What befalls a cluster: people, machines, the operator's process and its connections.

use std::time::Duration;

use muster_core::manager::requests::Ask;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::random::garbage;
use super::samples::{self, CLUSTER, NAMESPACE};
use super::troubles::Rates;
use super::world::World;

/// The most members of a pool: enough for every rule, few enough to be quick.
const MOST: usize = 5;

/// How much later everything is known while requests and events go wrong: as long as watches pause at most.
const STORMY: Duration = Duration::from_secs(40);

/// How long a machine may be silent before anyone notices: three signs of life.
pub(crate) const SILENCE: Duration = Duration::from_secs(3);

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A pool gets another size.
    Scale(Vec<usize>),
    /// Another version.
    Version(&'static str),
    /// Another parameter.
    Size(String),
    /// This is stopped or started.
    Pause(&'static str, bool),
    /// A person asks for another primary.
    Switchover(Option<String>),
    /// A person says that this machine, which is off, does not run.
    Fence(String),
    /// A person gives this member up.
    Forget(String),
    /// A person lets a member throw away what it holds.
    Rejoin(String),
    /// A person who finds recovery blocked lets it go on from this member.
    Recover(String),
    /// A person forbids, or allows, that a member is changed.
    Enable(String, bool),
    /// Other drivers.
    Drivers(Vec<&'static str>),
    /// A person writes into status.
    Garble,
    /// Clients write.
    Writes,
    /// An agent restarts.
    Restart(String),
    /// All agents restart.
    Outage,
    /// An application ends by itself.
    CrashApplication(String),
    /// A machine loses its power.
    PowerOff(String),
    /// No message reaches a machine.
    Isolate(String),
    /// A member gets no copies.
    Stall(String),
    /// A disk is exchanged for an empty one.
    Wipe(String),
    /// The streams of a member break.
    CutStreams(String),
    /// All machines are well again.
    MachinesReturn,
    /// The operator's process dies.
    CrashOperator,
    /// Requests, events and commands go wrong.
    Storm(Rates),
    /// They do not any more.
    Lull,
}

/// What was done to a cluster, and may have to be undone.
pub(crate) struct Harm {
    pub(crate) chance: StdRng,
    /// Whose disk was exchanged, so that a person may have to choose.
    pub(crate) wiped: Option<String>,
    /// Whether writes may be lost by what the spec says.
    pub(crate) loss_allowed: bool,
    /// The last time that a person helped.
    pub(crate) helped: Duration,
    pools: Vec<usize>,
    size: u32,
}

impl Harm {
    pub(crate) fn new(chance: StdRng, pools: Vec<usize>) -> Self {
        Self { chance, wiped: None, loss_allowed: false, helped: Duration::ZERO, pools, size: 1 }
    }

    /// How long nothing happens: mostly not long, so that things happen in the middle of others.
    pub(crate) fn wait(&mut self, longest: u64) -> Duration {
        let most = [200, 2_000, 15_000, longest][self.chance.random_range(0..4)];
        Duration::from_millis(self.chance.random_range(1..=most))
    }

    /// Everything that can be mended without a decision is mended.
    pub(crate) async fn mend(&mut self, world: &mut World) {
        world.troubles.end();
        world.oracle.be_patient(Duration::ZERO);
        Self::mend_machines(world);
        for what in ["clustering", "reconciliation"] {
            world.edit(stopped(what, false)).await;
        }
        for member in world.disabled() {
            world.enable(&member, true).await;
        }
        if self.pools.iter().all(|nodes| *nodes == 0) {
            self.pools[0] = 1;
        }
        world.edit(json!({"spec": {"pools": samples::pools(&self.pools)}})).await;
    }

    fn mend_machines(world: &World) {
        world.oracle.hurt();
        for member in world.fleet.members(NAMESPACE, CLUSTER) {
            world.fleet.isolate(NAMESPACE, &member, false);
            world.fleet.stall_copies(NAMESPACE, &member, false);
            if world.fleet.is_dark(NAMESPACE, &member) {
                world.fleet.power_on(NAMESPACE, &member);
            }
        }
    }
}

fn stopped(what: &str, is: bool) -> Value {
    let value = if is { json!("true") } else { Value::Null };
    json!({"metadata": {"annotations": {format!("muster.dev/{what}-stopped"): value}}})
}

impl Happening {
    pub(crate) fn draw(harm: &mut Harm, world: &World) -> Self {
        let members = world.fleet.members(NAMESPACE, CLUSTER);
        if members.is_empty() {
            return Self::Writes;
        }
        let pools = harm.pools.clone();
        let chance = &mut harm.chance;
        let one = members[chance.random_range(0..members.len())].clone();
        match chance.random_range(0..48) {
            46 if Self::blocked(world) => Self::Recover(one),
            0..4 => Self::scale(chance, pools),
            4 | 5 => Self::Version(["1", "2"][chance.random_range(0..2)]),
            6 | 7 => {
                harm.size += 1;
                Self::Size(harm.size.to_string())
            }
            8..11 => Self::Pause("clustering", chance.random_range(0..3) == 0),
            11..14 => Self::Pause("reconciliation", chance.random_range(0..3) == 0),
            14 | 15 => Self::Switchover(chance.random::<bool>().then_some(one)),
            16 => Self::Garble,
            17..20 => Self::Writes,
            20..23 => Self::Restart(one),
            23 | 46 => Self::Outage,
            24 | 25 => Self::CrashApplication(one),
            26 => Self::PowerOff(one),
            27 => Self::Isolate(one),
            28 => Self::Stall(one),
            29 if harm.wiped.is_none() => Self::Wipe(one),
            30 => Self::CutStreams(one),
            31..34 => Self::MachinesReturn,
            34 | 35 => Self::CrashOperator,
            36 | 37 => Self::Storm(Rates {
                writes: chance.random_range(0..200),
                reads: chance.random_range(0..200),
                events: chance.random_range(0..60),
                commands: chance.random_range(0..300),
                crashes: chance.random_range(0..500),
            }),
            38 | 39 => Self::Lull,
            40 | 41 => Self::Enable(one, chance.random_range(0..3) == 0),
            42 | 43 => {
                let drivers = [&[][..], &["proxy"], &["mounts"], &["proxy", "mounts"]];
                Self::Drivers(drivers[chance.random_range(0..drivers.len())].to_vec())
            }
            44 => Self::Forget(one),
            45 => Self::Rejoin(one),
            _ => match members.into_iter().find(|member| world.fleet.is_dark(NAMESPACE, member)) {
                Some(dark) => Self::Fence(dark),
                None => Self::PowerOff(one),
            },
        }
    }

    /// Whether recovery waits for a person.
    fn blocked(world: &World) -> bool {
        world.oracle.cluster(|it| it.is_some_and(|it| it["status"]["recovery"]["blockedBy"].is_string()))
    }

    fn scale(chance: &mut StdRng, mut pools: Vec<usize>) -> Self {
        let parks = chance.random_range(0..6) == 0;
        if parks {
            return Self::Scale(vec![0; pools.len()]);
        }
        let pool = chance.random_range(0..pools.len());
        pools[pool] = chance.random_range(1..=MOST.min(pools[pool] + 2));
        Self::Scale(pools)
    }

    pub(crate) async fn happen(self, world: &mut World, harm: &mut Harm) {
        match self {
            Self::Scale(pools) => {
                world.edit(json!({"spec": {"pools": samples::pools(&pools)}})).await;
                harm.pools = pools;
            }
            Self::Version(version) => world.edit(json!({"spec": {"engine": {"version": version}}})).await,
            Self::Size(size) => world.edit(json!({"spec": {"engine": {"parameters": {"size": size}}}})).await,
            Self::Pause(what, is) => world.edit(stopped(what, is)).await,
            Self::Switchover(to) => world.ask(Ask::Switchover { to }).await,
            Self::Fence(member) => world.ask(Ask::Fence { members: vec![member] }).await,
            Self::Forget(member) => world.ask(Ask::Forget { members: vec![member] }).await,
            Self::Rejoin(member) => world.ask(Ask::Rejoin { member, discard: true }).await,
            Self::Recover(member) => {
                // A lower place may be chosen, and what is above it is lost.
                harm.loss_allowed = true;
                world.fleet.accept_loss(NAMESPACE, CLUSTER, true);
                let seed = Some(member);
                world.ask(Ask::Recover { seed, accept_data_loss: false, replicas: None }).await;
            }
            Self::Enable(member, enabled) => world.enable(&member, enabled).await,
            Self::Drivers(names) => {
                world.edit(json!({"spec": {"drivers": samples::drivers(&names)}})).await;
            }
            Self::Garble => world.garble(garbage()).await,
            Self::CrashOperator => world.wire.die(),
            Self::Storm(rates) => {
                world.oracle.be_patient(STORMY);
                world.troubles.rage(StdRng::seed_from_u64(harm.chance.random()), rates);
            }
            Self::Lull => {
                world.troubles.end();
                world.oracle.be_patient(Duration::ZERO);
            }
            machines => machines.hurt(world, harm),
        }
    }

    /// What happens to machines.
    fn hurt(self, world: &World, harm: &mut Harm) {
        let fleet = &world.fleet;
        match self {
            Self::Writes | Self::CutStreams(_) => {}
            Self::PowerOff(_) | Self::Isolate(_) => world.oracle.hurt_silently(SILENCE),
            _ => world.oracle.hurt(),
        }
        match self {
            Self::Restart(member) => fleet.restart(NAMESPACE, &member),
            Self::Outage => {
                for member in fleet.members(NAMESPACE, CLUSTER) {
                    fleet.restart(NAMESPACE, &member);
                }
            }
            Self::CrashApplication(member) => fleet.crash_application(NAMESPACE, &member),
            Self::PowerOff(member) => fleet.power_off(NAMESPACE, &member),
            Self::Isolate(member) => fleet.isolate(NAMESPACE, &member, true),
            Self::Stall(member) => fleet.stall_copies(NAMESPACE, &member, true),
            Self::Wipe(member) => {
                fleet.wipe(NAMESPACE, &member);
                harm.wiped = Some(member);
            }
            Self::CutStreams(member) => fleet.cut_streams(NAMESPACE, &member),
            Self::MachinesReturn => Harm::mend_machines(world),
            _ => {
                for _ in 0..harm.chance.random_range(1..20) {
                    fleet.write(NAMESPACE, CLUSTER);
                }
            }
        }
    }
}
