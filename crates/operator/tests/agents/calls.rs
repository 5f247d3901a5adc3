//! One question, one answer: what is believed, and what is known when there is none.

use std::sync::Arc;
use std::time::Duration;

use muster_core::manager::report::{Application, Instance};
use muster_operator::agents::limits::{COMMAND_TIMEOUT, REPORT_TIMEOUT};
use muster_operator::agents::{Agent, CallError, Peer};
use muster_protocol::{Action, Epoch, Outcome, Refusal};
use muster_test_agents::{Fault, Fleet, Seen};

use crate::scene::{MEMBER, NAMESPACE, agent, command, one_member, pass, peer};

#[tokio::test(start_paused = true)]
async fn a_report_answers_its_round_and_an_epoch_is_kept() {
    let (fleet, agent) = one_member().await;
    let line = agent.report(3).await.unwrap();
    assert_eq!((line.report.round, line.report.epoch), (3, 0));
    assert_eq!(line.pod_uid.as_deref(), Some("pod-1"));
    assert_eq!(line.report.application, Application::Stopped);
    let line = agent.epoch(Epoch { epoch: 7, round: 4 }).await.unwrap();
    assert_eq!((line.report.round, line.report.epoch), (4, 7));
    fleet.restart(NAMESPACE, MEMBER);
    let older = agent.epoch(Epoch { epoch: 6, round: 5 }).await.unwrap();
    assert_eq!(older.report.epoch, 7, "it is on disk, and says so to an older leader");
    assert_ne!(older.report.instance, line.report.instance);
}

#[tokio::test(start_paused = true)]
async fn a_starting_agent_says_that_it_does_not_know_and_obeys_nothing() {
    let fleet = Fleet::new(1);
    fleet.start(NAMESPACE, "orders", MEMBER, None);
    let agent = agent(&fleet, MEMBER);
    let line = agent.report(1).await.unwrap();
    assert_eq!(line.report.application, Application::Unknown);
    let error = agent.command(&command(&line, 1, Action::Stop)).await.unwrap_err();
    assert!(matches!(error, CallError::Refused(_)), "{error}");
    assert!(!error.may_have_been_obeyed());
}

#[tokio::test(start_paused = true)]
async fn a_command_is_obeyed_once_and_answered_again() {
    let (fleet, agent) = one_member().await;
    let line = agent.epoch(Epoch { epoch: 7, round: 1 }).await.unwrap();
    let seed = command(&line, 1, Action::Seed { forming: true });
    let first = agent.command(&seed).await.unwrap();
    assert!(matches!(first, Outcome::Obeyed(answer) if answer.succeeded), "{first:?}");
    assert_eq!(agent.command(&seed).await.unwrap(), first);
    pass(Duration::from_secs(2)).await;
    assert_eq!(fleet.serving(NAMESPACE, "orders"), [MEMBER]);
    let mut stale = command(&line, 2, Action::Stop);
    stale.command.instance = Instance(1);
    assert_eq!(agent.command(&stale).await.unwrap(), Outcome::Refused(Refusal::OtherInstance));
}

#[tokio::test(start_paused = true)]
async fn whether_a_command_may_have_been_obeyed_is_known() {
    let faults = [
        (Fault::Refused, "Unreachable", false, false),
        (Fault::Lost, "TimedOut", true, false),
        (Fault::Late(COMMAND_TIMEOUT * 2), "TimedOut", true, false),
        (Fault::AnswerLost, "Broken", true, true),
        (Fault::AnswerLate(COMMAND_TIMEOUT * 2), "TimedOut", true, true),
        (Fault::RestartAfter, "Broken", true, true),
        (Fault::PowerOffAfter, "TimedOut", true, true),
    ];
    for (fault, word, may_be, was) in faults {
        let (fleet, agent) = one_member().await;
        let line = agent.report(1).await.unwrap();
        fleet.set_faults(Arc::new(
            move |seen: &Seen| {
                if seen.instruction.is_some() { fault } else { Fault::None }
            },
        ));
        let stop = command(&line, 1, Action::Stop);
        let error = agent.command(&stop).await.unwrap_err();
        assert_eq!((error.word(), error.may_have_been_obeyed()), (word, may_be), "{fault:?}");
        let obeyed = fleet.with(NAMESPACE, MEMBER, |node| node.volume.last.is_some());
        assert_eq!(obeyed, Some(was), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_arrives_late_though_nobody_waits_for_it() {
    let (fleet, agent) = one_member().await;
    let line = agent.report(1).await.unwrap();
    fleet.set_faults(Arc::new(|seen: &Seen| {
        if seen.instruction.is_some() { Fault::Late(COMMAND_TIMEOUT * 2) } else { Fault::None }
    }));
    agent.command(&command(&line, 1, Action::Stop)).await.unwrap_err();
    pass(COMMAND_TIMEOUT * 2).await;
    let last = agent.report(2).await.unwrap().report.last.unwrap();
    assert_eq!(last.stamp.n, 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_off_or_away_is_unreachable_within_its_time() {
    let (fleet, agent) = one_member().await;
    fleet.stop(NAMESPACE, MEMBER);
    assert!(matches!(agent.report(1).await, Err(CallError::Unreachable(_))));
    fleet.power_off(NAMESPACE, MEMBER);
    let began = tokio::time::Instant::now();
    assert!(agent.report(1).await.is_err());
    assert!(began.elapsed() <= REPORT_TIMEOUT);
    fleet.power_on(NAMESPACE, MEMBER);
    assert!(agent.report(1).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn another_member_or_cluster_at_that_address_is_not_believed() {
    let (fleet, _) = one_member().await;
    for (cluster, member) in [("orders", "orders-a-1"), ("bills", MEMBER)] {
        let peer = Peer { cluster: cluster.into(), member: member.into(), ..peer(MEMBER) };
        let agent = Agent::new(peer, Arc::new(fleet.dial()));
        let error = agent.report(1).await.unwrap_err();
        let stranger = CallError::Stranger { cluster: "orders".into(), member: MEMBER.into() };
        assert_eq!(error, stranger);
    }
}
