//! Everything dies at once, again and again, in another order each time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::suite::{Cluster, Writer};

/// How often.
const ROUNDS: u32 = 20;
/// How many entries at most are acknowledged between two deaths.
const ENTRIES: usize = 4;
/// How long two deaths are apart at most: less than it takes until whoever died first is started again.
const APART: u64 = 100;

#[test]
fn twenty_outages_in_which_everyone_is_killed_lose_nothing() {
    let given = std::env::var("MUSTER_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed: u64 = given.unwrap_or_else(rand::random);
    // Whoever sees this test fail can have the same order of deaths again.
    println!("MUSTER_SEED={seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let cluster = Cluster::ready("outages", 3);
    let recoveries = cluster.recoveries();
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(5);
    let mut deaths = 0;
    for round in 1..=ROUNDS {
        let killed = kill_all(&cluster, &writer, &mut chance);
        deaths += killed.len();
        let leader = cluster.until_served(&writer);
        println!("round {round}: killed {killed:?}, {leader} leads, {} acknowledged", writer.count());
        // Whoever dies again before it had caught up is left alone for a while, so all do first.
        cluster.until_ready();
    }
    assert!(deaths > 50, "{deaths} of 60 deaths: so little happened that nothing is proven");
    assert_ne!(recoveries.most_advanced_seeded(), 0, "nobody was ever said to be chosen");
    cluster.holds_all(writer);
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
