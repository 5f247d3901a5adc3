//! Everything dies at once, again and again, in another order each time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::suite::{Cluster, Writer};

/// How many entries at most are acknowledged between two deaths.
const ENTRIES: usize = 4;
/// How long two deaths are apart at most: less than it takes until whoever died first is started again.
const APART: u64 = 100;

/// So many outages, in each of which everyone is killed, and whoever has most begins again.
pub(crate) fn outages_in_which_everyone_is_killed(cluster: &Cluster, rounds: u32) {
    let told = outages(cluster, rounds);
    // A choice is carried out before it is told, and what is over by then is not told: on a busy machine most are. What every outage
    // proves is that nothing is lost; whoever was said to be chosen had most, each time.
    let Told { chosen, judged } = told;
    assert_ne!(chosen, 0, "it was never said who was chosen");
    assert_ne!(judged, 0, "it was never said what those held among whom was chosen");
}

/// The same while operators die: nobody has to say who is chosen, but whoever is said to be has most.
pub(crate) fn outages_in_which_operators_die_too(cluster: &Cluster, rounds: u32) {
    outages(cluster, rounds);
}

/// In how many outages it was said who was chosen, and in how many of them also what that one held, so that it could be judged.
#[derive(Default)]
struct Told {
    chosen: u32,
    judged: u32,
}

fn outages(cluster: &Cluster, rounds: u32) -> Told {
    let given = std::env::var("MUSTER_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed: u64 = given.unwrap_or_else(rand::random);
    // Whoever sees this test fail can have the same order of deaths again.
    println!("MUSTER_SEED={seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let recoveries = cluster.recoveries();
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    let (mut deaths, mut told) = (0, Told::default());
    for round in 1..=rounds {
        let before = (recoveries.choices(), recoveries.most_advanced_seeded());
        let killed = kill_all(cluster, &writer, &mut chance);
        deaths += killed.len();
        let leader = cluster.until_served(&writer);
        println!("round {round}: killed {killed:?}, {leader} leads, {} acknowledged", writer.count());
        // Whoever dies again before it had caught up is left alone for a while, so all do first.
        cluster.until_ready();
        cluster.counts_losses(&format!("outage {round}"));
        told.chosen += u32::from(recoveries.choices() > before.0);
        told.judged += u32::from(recoveries.most_advanced_seeded() > before.1);
    }
    let all = 3 * rounds as usize;
    assert!(deaths * 6 > all * 5, "{deaths} of {all} deaths: so little happened that nothing is proven");
    println!(
        "of {rounds} outages it was told in {} who was chosen, {} were judged",
        told.chosen, told.judged
    );
    cluster.holds_all(&writer);
    told
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
