//! Everything dies at once, again and again, in another order each time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::suite::{Cluster, Writer};

/// How many entries at most are acknowledged between two deaths.
const ENTRIES: usize = 4;
/// How many entries say that clients are served again: the last answer of one that died may be counted late.
const SERVED: usize = 5;
/// One of so many choices can be judged, however busy the machine is; while fourteen processes waited for two processors it was three of four.
const OF_CHOICES: u32 = 4;
/// How long two deaths are apart at most: less than it takes until whoever died first is started again.
const APART: u64 = 100;

/// So many outages, in each of which everyone is killed, and whoever has most begins again.
pub(crate) fn outages_in_which_everyone_is_killed(cluster: &Cluster, rounds: u32) {
    let judged = outages(cluster, rounds);
    // On a busy machine others have joined before it was looked who was chosen. Every choice that could be judged was right.
    assert!(judged * OF_CHOICES >= rounds, "of {rounds} choices only {judged} could be judged");
}

/// The same while operators die: choices are cut off, but whoever is chosen has most.
pub(crate) fn outages_in_which_operators_die_too(cluster: &Cluster, rounds: u32) {
    outages(cluster, rounds);
}

/// In how many of them whoever was chosen could be compared with others, and had as much.
fn outages(cluster: &Cluster, rounds: u32) -> u32 {
    let given = std::env::var("MUSTER_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed: u64 = given.unwrap_or_else(rand::random);
    // Whoever sees this test fail can have the same order of deaths again.
    println!("MUSTER_SEED={seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let recoveries = cluster.recoveries();
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    let disks = cluster.disks(cluster.members(3));
    let (mut deaths, mut judged) = (0, 0);
    for round in 1..=rounds {
        let killed = kill_all(cluster, &writer, &mut chance);
        deaths += killed.len();
        let (choice, served) = (disks.next_choice(), writer.count() + SERVED);
        judged += u32::from(choice.is_of_the_most_advanced(|| writer.count() >= served) > 0);
        let leader = cluster.until_served(&writer);
        println!("round {round}: killed {killed:?}, {leader} leads, {} acknowledged", writer.count());
        // Whoever dies again before it had caught up is left alone for a while, so all do first.
        cluster.until_ready();
        cluster.counts_losses(&format!("outage {round}"));
        // What status says of it is true, too, where it says anything.
        recoveries.most_advanced_seeded();
    }
    let all = 3 * rounds as usize;
    assert!(deaths * 6 > all * 5, "{deaths} of {all} deaths: so little happened that nothing is proven");
    println!("of {rounds} choices {judged} were judged");
    cluster.holds_all(&writer);
    judged
}

/// In an order of chance, with some time between. Clients go on while anyone can serve them, so those who die later have more.
fn kill_all(cluster: &Cluster, writer: &Writer, chance: &mut StdRng) -> Vec<String> {
    let mut members = cluster.members(3);
    members.shuffle(chance);
    members.retain(|member| {
        let killed = cluster.kill_application(member);
        let (entries, apart) = (chance.random_range(0..=ENTRIES), chance.random_range(0..=APART));
        writer.gets_through(entries, Duration::from_millis(apart));
        killed
    });
    members
}
