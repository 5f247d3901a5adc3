//! Streams: kept open, known to be lost, never flooding.

use std::sync::Arc;
use std::time::Duration;

use muster_operator::agents::limits::{LONGEST_PAUSE, SILENCE};
use muster_operator::agents::{CallError, Events, Lost, News, watch};
use muster_protocol::{EPOCH_PATH, HEARTBEAT};
use muster_test_agents::{Fault, Seen};
use tokio::time::Instant;

use crate::scene::{MEMBER, NAMESPACE, agent, is_lost, line, one_member, pass, wait_for};

#[tokio::test(start_paused = true)]
async fn the_epoch_comes_first_and_heartbeats_are_no_news() {
    let (fleet, agent) = one_member().await;
    let events = Events::new();
    let watch = watch(agent, 7, &events, 1);
    let first = events.next().await;
    assert_eq!((line(&first).report.epoch, first.member.as_str()), (7, MEMBER));
    // The stream's own first line; then nothing changes, and an empty line is a sign of life that is no news.
    let second = events.next().await;
    assert!(line(&second).report.serial > line(&first).report.serial);
    pass(HEARTBEAT * 20).await;
    assert_eq!(events.try_next(), None, "it is neither lost nor changed");
    assert_eq!(events.streams(), (1, 1));
    drop(watch);
    assert_eq!(events.streams(), (0, 0));
    drop(fleet);
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_lost_after_three_heartbeats_and_found_again() {
    let (fleet, agent) = one_member().await;
    let events = Events::new();
    let _watch = watch(agent, 7, &events, 1);
    // The stream itself is open once its first line is there.
    events.next().await;
    events.next().await;
    fleet.isolate(NAMESPACE, MEMBER, true);
    let began = Instant::now();
    let lost = wait_for(&events, is_lost).await;
    assert_eq!(lost.news, News::Lost(Lost::Silent(SILENCE)));
    assert!(began.elapsed() <= SILENCE);
    assert_eq!(events.streams(), (1, 0));
    // While it stays away that is said once for each reason.
    let unreachable = wait_for(&events, is_lost).await;
    assert!(matches!(unreachable.news, News::Lost(Lost::Call(CallError::Unreachable(_)))));
    pass(Duration::from_secs(120)).await;
    fleet.isolate(NAMESPACE, MEMBER, false);
    let began = Instant::now();
    let back = events.next().await;
    assert_eq!(line(&back).report.epoch, 7);
    assert!(began.elapsed() <= LONGEST_PAUSE + Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn a_cut_stream_and_a_restart_are_noticed_at_once() {
    let (fleet, agent) = one_member().await;
    let events = Events::new();
    let _watch = watch(agent, 7, &events, 1);
    let first = events.next().await;
    for restart in [false, true] {
        // The stream itself is open once its first line is there.
        events.next().await;
        let began = Instant::now();
        if restart {
            fleet.restart(NAMESPACE, MEMBER);
        } else {
            fleet.cut_streams(NAMESPACE, MEMBER);
        }
        wait_for(&events, is_lost).await;
        assert!(began.elapsed() < Duration::from_millis(10));
        let again = wait_for(&events, |event| !is_lost(event)).await;
        let same_run = line(&again).report.instance == line(&first).report.instance;
        assert_eq!(same_run, !restart);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_the_newest_line_and_learns_of_the_loss() {
    let (fleet, agent) = one_member().await;
    let events = Events::new();
    let _watch = watch(agent, 7, &events, 1);
    pass(Duration::from_secs(100)).await;
    fleet.cut_streams(NAMESPACE, MEMBER);
    pass(Duration::from_secs(100)).await;
    let serial =
        fleet.with(NAMESPACE, MEMBER, |node| node.agent.as_ref().map(|agent| agent.serial)).flatten();
    assert!(is_lost(&events.try_next().unwrap()));
    let newest = events.try_next().unwrap();
    assert!(Some(line(&newest).report.serial) <= serial, "what was said since is that nothing has changed");
    assert_eq!(events.try_next(), None);
}

#[tokio::test(start_paused = true)]
async fn tries_to_connect_grow_rare() {
    let (fleet, agent) = one_member().await;
    let tries = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    fleet.set_faults(Arc::new(move |seen: &Seen| {
        assert_eq!(seen.path, EPOCH_PATH, "the epoch comes first");
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Fault::Refused
    }));
    let events = Events::new();
    let _watch = watch(agent, 7, &events, 1);
    pass(Duration::from_secs(600)).await;
    let tries = tries.load(std::sync::atomic::Ordering::Relaxed);
    assert!((120..=250).contains(&tries), "{tries}");
    assert!(is_lost(&events.try_next().unwrap()));
    assert_eq!(events.try_next(), None, "the same reason again is no news");
}

#[tokio::test(start_paused = true)]
async fn one_that_is_dropped_says_nothing_any_more() {
    let (fleet, first) = one_member().await;
    let events = Events::new();
    let gone = watch(first, 7, &events, 1);
    pass(Duration::from_secs(3)).await;
    drop(gone);
    assert_eq!(events.try_next(), None);
    let requests = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = Arc::clone(&requests);
    fleet.set_faults(Arc::new(move |_: &Seen| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Fault::None
    }));
    pass(Duration::from_secs(60)).await;
    assert_eq!(requests.load(std::sync::atomic::Ordering::Relaxed), 0);
    let _new = watch(agent(&fleet, MEMBER), 8, &events, 1);
    assert_eq!(line(&events.next().await).report.epoch, 8);
}
