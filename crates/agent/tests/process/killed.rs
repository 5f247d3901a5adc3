//! The agent is killed while its application lives, and what the next one then says.

use std::path::Path;

use muster_core::manager::command::{Action, Answer};
use muster_core::manager::report::Application;
use muster_core::manager::stamp::Stamp;
use muster_operator::agents::CallError;
use muster_protocol::Epoch;

use super::place::{Place, lives, until_dead};

#[tokio::test]
async fn an_application_dies_with_its_agent() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    let pid = place.number("pid");
    assert!(lives(pid));
    agent.kill();
    until_dead(pid);
    let agent = place.start_and_settle().await;
    let report = agent.report().await;
    assert_eq!((report.application, report.epoch), (Application::Stopped, 1));
    assert_eq!(report.last, Some(Answer { stamp: Stamp::new(1, 1), succeeded: true }));
}

#[tokio::test]
async fn an_action_dies_with_its_agent_and_its_command_has_failed() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("promote.hangs", "");
    agent.obeys(2, Action::Demote, true).await;
    let order = agent.order(3, Action::Promote).await;
    let client = agent.client.clone();
    let promoted = tokio::spawn(async move { client.command(&order).await });
    place.until_logged("promote").await;
    agent.kill();
    let answer = promoted.await.unwrap();
    assert!(answer.is_err_and(|error| error.may_have_been_obeyed()));
    let agent = place.start_and_settle().await;
    let report = agent.report().await;
    assert_eq!(report.last, Some(Answer { stamp: Stamp::new(1, 3), succeeded: false }));
    assert_eq!(report.application, Application::Stopped);
    let term = report.held().unwrap().terms.current().unwrap();
    assert_eq!(term.stamp, Stamp::new(1, 3), "it may have served in it");
}

#[tokio::test]
async fn until_what_is_left_is_gone_nothing_is_known_and_nothing_is_obeyed() {
    let place = Place::new();
    place.tell("detached", "");
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    let left = place.number("detached.pid");
    agent.kill();
    until_dead(place.number("pid"));
    assert!(lives(left), "no signal of the kernel reaches a grandchild");
    // The next agent finds who holds the lock, and ends it before it says anything.
    let agent = place.start_and_settle().await;
    assert!(!lives(left));
    assert_eq!(agent.report().await.application, Application::Stopped);
}

#[tokio::test]
async fn what_the_application_leaves_behind_is_ended_with_it() {
    let place = Place::new();
    place.tell("detached", "");
    let agent = place.start_and_settle().await;
    agent.seed().await;
    let left = place.number("detached.pid");
    agent.obeys(2, Action::Stop, true).await;
    assert!(!lives(left), "a stop is confirmed when nothing lives");
}

#[tokio::test]
async fn a_second_agent_on_the_volume_says_that_it_does_not_know() {
    let place = Place::new();
    let mut first = place.start_and_settle().await;
    let served = first.seed().await;
    let pid = place.number("pid");
    let second = place.start();
    // It serves before it has looked at the volume.
    let report = second.until("it has looked", |line| !line.report.volume.is_empty()).await.report;
    assert_eq!(report.application, Application::Unknown);
    assert_eq!((report.volume, report.epoch), (served.volume, 1));
    let refused = second.command(2, Action::Stop).await;
    assert!(matches!(refused, Err(CallError::Refused(_))), "{refused:?}");
    let refused = second.client.epoch(Epoch { epoch: 9, round: 0 }).await;
    assert!(matches!(refused, Err(CallError::Refused(_))), "{refused:?}");
    assert!(lives(pid), "it ends nothing that another agent answers for");
    assert!(first.report().await.running().is_some());
    first.kill();
    second.until("it has looked", |line| line.report.application == Application::Stopped).await;
    assert!(!lives(pid));
    assert_eq!(second.epoch(9).await.report.epoch, 9);
}

/// Kills the agent again and again, at whatever moment; what it then says must be what the engine's own log says.
#[tokio::test]
async fn killed_at_any_moment_it_says_what_is_true() {
    let place = Place::new();
    let mut n = 1;
    for round in 0..12_u32 {
        let mut agent = place.start_and_settle().await;
        let report = agent.report().await;
        assert_eq!(report.application, Application::Stopped);
        assert!(!running_processes(&place.data()), "nothing lives that it does not know");
        agent.epoch(1).await;
        let forming = report.is_empty();
        let action = if forming { Action::Seed { forming } } else { Action::Lead };
        n += 1;
        let order = agent.order(n, action).await;
        let client = agent.client.clone();
        let started = tokio::spawn(async move { client.command(&order).await });
        let moment = std::time::Duration::from_micros(u64::from(round) * 1700);
        let _ = tokio::time::timeout(moment, std::future::pending::<()>()).await;
        agent.kill();
        let answer = started.await.unwrap();
        let agent = place.start_and_settle().await;
        let after = agent.report().await;
        assert_eq!(after.application, Application::Stopped);
        let known = after.last.is_some_and(|last| last.stamp == Stamp::new(1, n));
        assert!(answer.is_err() || known, "what was answered is remembered");
        let begun =
            after.held().unwrap().terms.entries().iter().any(|entry| entry.term.stamp == Stamp::new(1, n));
        assert_eq!(known, begun, "a command and its term are remembered together");
        n = n.max(after.last.map_or(0, |last| last.stamp.n));
    }
}

/// Whether a process works in this directory.
fn running_processes(data: &Path) -> bool {
    muster_agent::process::table::all().into_iter().any(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let ours = format!("MUSTER_DATA={}", data.display());
        let is_ours = environment.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes());
        is_ours && command.starts_with("sleep")
    })
}
