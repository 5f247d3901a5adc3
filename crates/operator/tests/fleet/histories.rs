//! Clusters form, are disturbed by chance, and serve again with all that was acknowledged.

use std::sync::Arc;
use std::time::Duration;

use muster_core::manager::roster::Copies;
use muster_test_agents::{Fleet, Kind, NoFaults, RandomFaults};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::conductor::{CLUSTER, Conductor, NAMESPACE};

/// How long a cluster may take to serve once nothing goes wrong any more: longer than anything is late, and than the
/// longest rest of a member that failed.
const CALM: Duration = Duration::from_secs(900);
/// How many histories of each kind are played; more by `FLEET_SEEDS`.
const SEEDS: u64 = 6;

fn seeds() -> u64 {
    std::env::var("FLEET_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS)
}

/// One thing that happens to a member.
fn disturb(fleet: &Fleet, chance: &mut StdRng, members: u32) {
    let member = format!("{CLUSTER}-a-{}", chance.random_range(0..members));
    let member = member.as_str();
    match chance.random_range(0..10) {
        0 => fleet.restart(NAMESPACE, member),
        1 => fleet.crash_application(NAMESPACE, member),
        2 => fleet.power_off(NAMESPACE, member),
        3 => fleet.power_on(NAMESPACE, member),
        4 => fleet.isolate(NAMESPACE, member, true),
        5 | 6 => fleet.isolate(NAMESPACE, member, false),
        7 => fleet.cut_streams(NAMESPACE, member),
        8 => fleet.stall_copies(NAMESPACE, member, true),
        _ => fleet.stall_copies(NAMESPACE, member, false),
    }
}

fn mend(fleet: &Fleet, members: u32) {
    fleet.set_faults(Arc::new(NoFaults));
    for ordinal in 0..members {
        let member = format!("{CLUSTER}-a-{ordinal}");
        fleet.isolate(NAMESPACE, &member, false);
        fleet.stall_copies(NAMESPACE, &member, false);
        fleet.power_on(NAMESPACE, &member);
    }
}

/// Plays one history; gives what can be compared with another run of it.
async fn play(seed: u64, kind: Kind, copies: Copies) -> (usize, Vec<u64>, String) {
    let (fleet, members) = (Fleet::new(seed), 3);
    let mut chance = StdRng::seed_from_u64(seed);
    let mut conductor = Conductor::new(&fleet, members, kind, copies, 1);
    conductor.settle(CALM).await;
    fleet.write_every(NAMESPACE, CLUSTER, Duration::from_millis(150));
    fleet.set_faults(Arc::new(RandomFaults::new(seed, 150, 20)));
    for _ in 0..20 {
        disturb(&fleet, &mut chance, members);
        let time = Duration::from_millis(chance.random_range(100..8_000));
        conductor.lead(time).await;
    }
    mend(&fleet, members);
    conductor.settle(CALM).await;
    let acknowledged = fleet.acknowledged(NAMESPACE, CLUSTER);
    let primary = fleet.serving(NAMESPACE, CLUSTER).remove(0);
    let kept = fleet.with(NAMESPACE, &primary, |node| node.volume.log.clone()).unwrap();
    let lost: Vec<&u64> = acknowledged.iter().filter(|write| !kept.contains(write)).collect();
    assert!(lost.is_empty(), "seed {seed}: {lost:?} were acknowledged, and {primary} does not have them");
    assert_eq!(fleet.violations(), [""; 0], "seed {seed}");
    assert!(!acknowledged.is_empty(), "seed {seed}: nobody wrote");
    (acknowledged.len(), kept, format!("{:?}", conductor.observed))
}

fn run(seed: u64, kind: Kind, copies: Copies) -> (usize, Vec<u64>, String) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(play(seed, kind, copies))
}

#[test]
fn one_primary_with_a_majority_loses_nothing() {
    for seed in 0..seeds() {
        run(seed, Kind::OnePrimary, Copies::Majority);
    }
}

#[test]
fn one_primary_that_waits_for_nobody_loses_nothing_because_all_are_read() {
    for seed in 0..seeds() {
        run(seed, Kind::OnePrimary, Copies::Fixed(1));
    }
}

#[test]
fn members_that_elect_by_themselves_lose_nothing() {
    for seed in 0..seeds() {
        run(seed, Kind::SelfElecting, Copies::Majority);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..3 {
        assert_eq!(
            run(seed, Kind::OnePrimary, Copies::Majority),
            run(seed, Kind::OnePrimary, Copies::Majority)
        );
    }
}
