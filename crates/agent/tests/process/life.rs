//! A member's life: formed, seen, stopped, remembered; and what people and kubelets see of it.

use std::time::{Duration, Instant};

use muster_api::names::Role;
use muster_core::manager::command::{Action, Answer};
use muster_core::manager::report::{Activity, Application, Data};
use muster_core::manager::stamp::{Stamp, Term};
use muster_operator::agents::{Events, News, watch};
use muster_protocol::Epoch;

use super::clients::get;
use super::place::{MEMBER, PATIENCE, Place, eventually};

#[tokio::test]
async fn it_forms_serves_stops_and_remembers() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    let first = agent.line().await;
    assert_eq!(
        (first.cluster.as_str(), first.member.as_str(), first.pod_uid.as_deref()),
        ("orders", MEMBER, Some("uid"))
    );
    assert_eq!(first.report.application, Application::Stopped);
    assert!(first.report.is_empty() && first.report.last.is_none() && first.report.roster.is_none());
    assert_eq!(get(agent.probes, "/readyz").await.0, 503);
    assert_eq!(get(agent.probes, "/livez").await.0, 200);

    let report = agent.seed().await;
    let running = report.running().unwrap();
    let term = Term::commanded(Stamp::new(1, 1));
    assert_eq!(
        (running.role, running.activity, running.term),
        (Role::Primary, Activity::Serving, Some(term))
    );
    assert_eq!(running.roster, Some(Stamp::new(1, 1)));
    let held = report.held().unwrap();
    assert!(held.complete && !held.empty && !held.left && !held.history.is_empty());
    assert_eq!(held.terms.current(), Some(term));
    assert_eq!(get(agent.probes, "/readyz").await.0, 200);
    let metrics = get(agent.probes, "/metrics").await.1;
    assert!(
        metrics.contains("muster_agent_ready{cluster=\"orders\",member=\"orders-a-0\",namespace=\"shop\"} 1"),
        "{metrics}"
    );

    agent.obeys(2, Action::Remember(3), true).await;
    agent.obeys(3, Action::Stop, true).await;
    let stopped = agent.until_stopped().await;
    assert_eq!((stopped.history.as_str(), stopped.terms.current()), (held.history.as_str(), Some(term)));
    assert_eq!(place.log(), ["seed", "stop"]);

    let before = agent.report().await;
    agent.kill();
    let agent = place.start_and_settle().await;
    let after = agent.report().await;
    assert_ne!(after.instance, before.instance);
    assert_eq!((after.volume, after.epoch, after.roster), (before.volume, before.epoch, before.roster));
    assert_eq!((after.last, after.data), (before.last, before.data));
    assert_eq!((after.recorded, after.recorded_at), (vec![3], Some(Stamp::new(1, 2))));
}

#[tokio::test]
async fn actions_are_told_what_they_need() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    let report = agent.seed().await;
    let told = std::fs::read_to_string(place.control("env.seed")).unwrap();
    let history = &report.held().unwrap().history;
    let volume = &report.volume;
    let roster = place.volume.join(".muster/roster.json");
    for line in [
        "MUSTER_ACTION=seed",
        "MUSTER_ROLE=primary",
        "MUSTER_TERM=1.1",
        "MUSTER_FORMING=true",
        "MUSTER_COPY=false",
        "MUSTER_ID=1",
        "MUSTER_VOTERS=orders-a-0",
        "MUSTER_COPIES=1",
        "MUSTER_ROSTER_VERSION=1.1",
        "MUSTER_PEERS=10.0.0.1,10.0.0.2",
        "MUSTER_MEMBERS=orders-a-1=10.0.0.1,orders-a-2=10.0.0.2",
        "MUSTER_PRIMARIES=10.0.0.1",
        "MUSTER_CLUSTER=orders",
        &format!("MUSTER_HISTORY={history}"),
        &format!("MUSTER_VOLUME_ID={volume}"),
        &format!("MUSTER_VOTER_VOLUMES={volume}"),
        &format!("MUSTER_ROSTER={}", roster.display()),
    ] {
        assert!(told.lines().any(|said| said == line), "{line} is not in\n{told}");
    }
    let roster: muster_core::manager::roster::Roster =
        serde_json::from_slice(&std::fs::read(roster).unwrap()).unwrap();
    assert_eq!(Some(roster), report.roster);
}

#[tokio::test]
async fn the_operators_stream_hears_changes_and_heartbeats() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    let events = Events::new();
    let _watch = watch(agent.client.clone(), 1, &events, 1);
    agent.seed().await;
    let serves = async {
        loop {
            if let News::Line(line) = events.next().await.news
                && line.report.running().is_some_and(|running| running.synced)
            {
                return line.report.serial;
            }
        }
    };
    let serial = tokio::time::timeout(PATIENCE, serves).await.unwrap();
    assert!(serial > 0);
    // While nothing moves, an empty line says so.
    let (end, mut pause) = (Instant::now() + PATIENCE, tokio::time::interval(Duration::from_millis(50)));
    while events.confirmed().is_empty() {
        assert!(Instant::now() < end, "there are no heartbeats");
        pause.tick().await;
    }
    std::fs::write(place.data().join("sequence"), "7").unwrap();
    let moved = async {
        while !matches!(events.next().await.news, News::Line(line) if line.report.held().unwrap().sequence == 7)
        {
        }
    };
    tokio::time::timeout(PATIENCE, moved).await.unwrap();
}

#[tokio::test]
async fn storage_is_measured_and_the_last_lines_of_a_failure_are_reported() {
    let place = Place::new();
    place.tell("seed.fails", "");
    let agent = place.start_and_settle().await;
    let line = agent.until("it is measured", |line| line.measured.storage.is_some()).await;
    let storage = line.measured.storage.unwrap();
    assert!(storage.free <= storage.capacity && storage.capacity > 0);
    assert_eq!(line.measured.devices[0].name, "data");
    agent.epoch(1).await;
    agent.obeys(1, Action::Seed { forming: true }, true).await;
    let line = agent.until("it failed", |line| line.measured.failure.is_some()).await;
    let failure = line.measured.failure.unwrap();
    assert_eq!((failure.action.as_str(), failure.how.as_str()), ("seed", "it exited with 3"));
    assert_eq!(failure.output, "it was told to fail");
    agent.until_stopped().await;
    place.untell("seed.fails");
    agent.obeys(2, Action::Seed { forming: true }, true).await;
    agent.until("it is not failed any more", |line| line.measured.failure.is_none()).await;
}

#[tokio::test]
async fn an_application_that_crashes_is_read_again_and_not_started() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    std::fs::write(place.data().join("sequence"), "41").unwrap();
    agent.until("it moves", |line| line.report.held().is_some_and(|held| held.sequence == 41)).await;
    std::fs::write(place.data().join("sequence"), "42").unwrap();
    let pid = place.number("pid");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let held = agent.until_stopped().await;
    assert_eq!((held.sequence, held.complete), (42, true));
    let line = agent.line().await;
    assert_eq!(line.measured.failure.unwrap().how, "it was ended by signal 9");
    assert_eq!(line.report.last, Some(Answer { stamp: Stamp::new(1, 1), succeeded: true }));
    assert_eq!(place.log(), ["seed"], "it starts nothing on its own");
}

#[tokio::test]
async fn data_that_cannot_be_read_is_neither_zero_nor_empty_and_is_read_again() {
    let place = Place::new();
    place.tell("sequence.fails", "");
    let agent = place.start_and_settle().await;
    assert_eq!(agent.report().await.data, Data::Unreadable);
    agent.epoch(1).await;
    let outcome = agent.command(1, Action::Seed { forming: true }).await.unwrap();
    let refused = muster_protocol::Refusal::NotEmpty;
    assert_eq!(outcome, muster_protocol::Outcome::Refused(refused));
    place.untell("sequence.fails");
    agent.until("it is read", |line| line.report.is_empty()).await;
}

#[tokio::test]
async fn a_terminated_agent_stops_its_application_cleanly() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    let pid = place.number("pid");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(agent.pid()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    let mut child = agent.child.take().unwrap();
    let child = std::cell::RefCell::new(&mut child);
    let status = eventually("it ended", || child.borrow_mut().try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert!(!super::place::lives(pid));
    assert_eq!(place.log(), ["seed", "stop"]);
}

#[tokio::test]
async fn in_a_round_it_says_how_far_the_application_is_now_or_that_nobody_can_tell() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    for sequence in [17, 23] {
        std::fs::write(place.data().join("sequence"), sequence.to_string()).unwrap();
        let line = agent.client.report(4).await.unwrap();
        assert_eq!((line.report.round, line.report.held().unwrap().sequence), (4, sequence));
    }
    std::fs::write(place.data().join("sequence"), "29").unwrap();
    let line = agent.client.epoch(Epoch { epoch: 7, round: 5 }).await.unwrap();
    assert_eq!(line.report.held().unwrap().sequence, 29);
    place.tell("status.hangs", "");
    let line = agent.client.report(6).await.unwrap();
    assert_eq!((line.report.round, line.report.data.clone()), (6, Data::Unreadable));
    assert!(line.report.running().is_some(), "it runs all the same");
    assert_eq!(agent.report().await.data, Data::Unreadable, "and what was known before does not come back");
    place.untell("status.hangs");
    agent.until("it answers again", |line| line.report.held().is_some_and(|held| held.sequence == 29)).await;
}
