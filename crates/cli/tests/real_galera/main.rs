//! `muster up` with real `MariaDB` servers, killed in many ways while a client writes. What Galera loses is counted and said, never assumed.

#![cfg(test)]

mod galera;
mod losses;
#[path = "../suite/on_galera.rs"]
mod on_galera;
#[path = "../stage/mod.rs"]
mod stage;
#[path = "../suite/mod.rs"]
mod suite;
mod writer;

use std::time::Instant;

use muster_test_assets::skip;

use self::galera::MEMBERS;
use self::losses::Losses;
use self::stage::Stage;
use self::writer::Writer;

/// Where the scenarios of the suite happen.
const KIND: suite::Kind = suite::Kind::Embedded;
/// What they happen to.
const SOFTWARE: suite::Software = suite::Software::Galera;
/// How often all members are killed at once: here it is looked what the servers themselves say, and the suite does it more often.
const OUTAGES: u64 = 3;

#[test]
fn real_galera_survives_being_killed_wiped_and_cut_off() {
    let mut stage = Stage::new("galera", None);
    let ready = stage.up("galera");
    let client = stage.client_command(&ready);
    stage.has_no_open_door();
    let writer = Writer::start(&client);
    let mut losses = Losses::new("root");

    one_is_killed(&stage, &writer);
    losses.are_no_more(&stage, "one was killed", &writer.acknowledged());
    for outage in 0..OUTAGES {
        all_are_killed(&stage, &writer, outage);
        losses.are_counted(&stage, &format!("outage {outage}"), &writer.acknowledged());
    }
    two_are_killed(&stage, &writer);
    losses.are_no_more(&stage, "two were killed", &writer.acknowledged());
    one_is_wiped(&stage, &writer);
    let acknowledged = writer.stop();
    losses.are_no_more(&stage, "one was wiped", &acknowledged);

    // Nobody writes any more, and every member has had the time to take all of it to disk.
    restarted(&mut stage);
    losses.are_no_more(&stage, "a power cut and a clean stop", &acknowledged);
    stage.stop();
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
}

#[test]
fn real_galera_runs_for_an_ordinary_user() {
    let Some(user) = Stage::users().into_iter().flatten().next() else {
        return skip("only root may be someone else; whoever is not root is that user in the other test");
    };
    let mut stage = Stage::new("galera", Some(user));
    let ready = stage.up("galera");
    let writer = Writer::start(&stage.client_command(&ready));
    let mut losses = Losses::new("user");
    writer.until_more();
    losses.are_no_more(&stage, "the beginning", &writer.acknowledged());
    all_are_killed(&stage, &writer, 0);
    losses.are_counted(&stage, "an outage", &writer.stop());
    stage.stop();
}

/// The others serve on, and it comes back without a copy of everything.
fn one_is_killed(stage: &Stage, writer: &Writer) {
    let server = stage.server(MEMBERS[1]).unwrap();
    writer.until_more();
    stage.kill_server(MEMBERS[1]);
    writer.until_more();
    stage.until_whole_without(&[server]);
    assert!(stage.joined_by_itself(MEMBERS[1]), "what it missed was sent, not everything");
}

/// In some order, with some time between, and once with the file destroyed in which Galera keeps its state. The most advanced seeds.
fn all_are_killed(stage: &Stage, writer: &Writer, outage: u64) {
    writer.until_more();
    let servers = stage.servers();
    let before = stage.seeds();
    if outage == 1 {
        stage.destroy_state(MEMBERS[2]);
    }
    for (member, pause) in writer::shuffled(outage) {
        stage.kill_server(member);
        std::thread::park_timeout(pause);
    }
    let began = Instant::now();
    stage.until("someone seeds", |stage| stage.seeds() != before);
    let positions = stage.recovered_positions();
    stage.until_whole_without(&servers);
    let seeds = stage.seeds();
    let seeded: Vec<&str> = MEMBERS.into_iter().filter(|member| seeds[*member] > before[*member]).collect();
    println!("outage {outage}: {positions:?}, seeded by {seeded:?}, whole after {:?}", began.elapsed());
    let highest = positions.values().max().unwrap();
    assert!(seeded.len() == 1 && positions[seeded[0]] == *highest, "{seeded:?} of {positions:?}");
    writer.until_more();
}

/// The third lives and has no quorum: it goes on without a restart, and the others join it.
fn two_are_killed(stage: &Stage, writer: &Writer) {
    writer.until_more();
    let (alive, before) = (stage.server(MEMBERS[0]).unwrap(), stage.seeds());
    let killed: Vec<_> = MEMBERS[1..].iter().map(|member| stage.server(member).unwrap()).collect();
    let began = Instant::now();
    stage.kill_server(MEMBERS[1]);
    stage.kill_server(MEMBERS[2]);
    stage.until_whole_without(&killed);
    println!("no quorum: whole after {:?}", began.elapsed());
    assert_eq!((stage.server(MEMBERS[0]), stage.seeds()), (Some(alive), before), "nothing was restarted");
    writer.until_more();
}

/// Its volume is empty: it is copied from the others, however often that takes, and seeds nothing.
fn one_is_wiped(stage: &Stage, writer: &Writer) {
    let (server, before) = (stage.server(MEMBERS[0]).unwrap(), stage.seeds());
    stage.wipe(MEMBERS[0]);
    writer.until_more();
    // In the middle of the copy, too.
    stage.until("it is copied", |stage| stage.is_being_copied(MEMBERS[0]));
    let copying = stage.server(MEMBERS[0]).unwrap();
    stage.kill_server(MEMBERS[0]);
    stage.until_whole_without(&[server, copying]);
    assert_eq!(stage.seeds(), before, "what is empty does not seed");
    assert!(!stage.joined_by_itself(MEMBERS[0]), "everything was copied");
    writer.until_more();
}

/// First as after a power cut, then after a clean stop.
fn restarted(stage: &mut Stage) {
    stage.kill();
    let after_a_cut = stage.up_again("galera", "a power cut");
    stage.stop();
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
    let after_a_stop = stage.up_again("galera", "a clean stop");
    stage.is_quick_again("galera", vec![after_a_cut, after_a_stop]);
}
