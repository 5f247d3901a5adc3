//! Which commands are obeyed, which are refused, and what happens to those that are under way.

use muster_core::manager::command::{Action, Answer};
use muster_core::manager::report::{Application, Instance};
use muster_core::manager::stamp::Stamp;
use muster_operator::agents::CallError;
use muster_protocol::{Epoch, MAX_MESSAGE_BYTES, Outcome, Refusal};

use super::clients::send;
use super::place::Place;

fn answered(n: u64, succeeded: bool) -> Outcome {
    Outcome::Obeyed(Answer { stamp: Stamp::new(1, n), succeeded })
}

#[tokio::test]
async fn what_is_not_meant_for_this_run_of_this_member_is_refused() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    let order = agent.order(5, Action::Seed { forming: true }).await;
    let refused = |refusal| Outcome::Refused(refusal);
    let mut other = order.clone();
    other.command.instance = Instance(order.command.instance.0 ^ 1);
    assert_eq!(agent.client.command(&other).await.unwrap(), refused(Refusal::OtherInstance));
    let mut other = order.clone();
    other.command.member = "orders-a-1".into();
    assert_eq!(agent.client.command(&other).await.unwrap(), refused(Refusal::OtherMember));

    assert_eq!(agent.client.command(&order).await.unwrap(), answered(5, true));
    let mut old = order.clone();
    old.command.stamp = Stamp::new(1, 4);
    let last = Stamp::new(1, 5);
    assert_eq!(
        agent.client.command(&old).await.unwrap(),
        refused(Refusal::OldNumber { got: Stamp::new(1, 4), last })
    );
    let line = agent.client.epoch(Epoch { epoch: 7, round: 3 }).await.unwrap();
    assert_eq!((line.report.epoch, line.report.round), (7, 3));
    let line = agent.client.epoch(Epoch { epoch: 6, round: 4 }).await.unwrap();
    assert_eq!((line.report.epoch, line.report.round), (7, 4), "who was replaced learns by whom");
    let mut old = order.clone();
    old.command.stamp = Stamp::new(6, 9);
    assert_eq!(agent.client.command(&old).await.unwrap(), refused(Refusal::OldEpoch { got: 6, known: 7 }));
    assert_eq!(place.log(), ["seed"]);
}

#[tokio::test]
async fn the_same_command_is_answered_again_and_done_once() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    let order = agent.order(1, Action::Seed { forming: true }).await;
    for _ in 0..3 {
        assert_eq!(agent.client.command(&order).await.unwrap(), answered(1, true));
    }
    agent.until_running("it serves", |it| it.synced).await;
    agent.obeys(2, Action::Seed { forming: false }, false).await;
    agent.obeys(2, Action::Stop, false).await;
    assert!(agent.report().await.running().is_some(), "a number is a command, whatever comes with it");
    assert_eq!(place.log(), ["seed"]);
}

#[tokio::test]
async fn a_stop_cuts_off_a_promotion() {
    let place = Place::new();
    place.tell("promote.hangs", "");
    let agent = place.start_and_settle().await;
    agent.seed().await;
    agent.obeys(2, Action::Demote, true).await;
    let order = agent.order(3, Action::Promote).await;
    let client = agent.client.clone();
    let repeated = order.clone();
    let started = tokio::spawn(async move { client.command(&order).await });
    place.until_logged("promote").await;
    let client = agent.client.clone();
    let waiting = tokio::spawn(async move { client.command(&repeated).await });
    let last = agent.report().await.last.unwrap();
    assert_eq!(last.stamp, Stamp::new(1, 2), "what is under way is not answered");
    let busy = agent.command(4, Action::TakeRoster).await;
    assert!(matches!(busy, Err(CallError::Refused(_))), "it would settle the start: {busy:?}");
    agent.obeys(5, Action::Stop, true).await;
    assert_eq!(started.await.unwrap().unwrap(), answered(3, false));
    let repeated = waiting.await.unwrap().unwrap();
    let late = Refusal::OldNumber { got: Stamp::new(1, 3), last: Stamp::new(1, 5) };
    assert!([answered(3, false), Outcome::Refused(late)].contains(&repeated), "{repeated:?}");
    assert_eq!(agent.report().await.last, Some(Answer { stamp: Stamp::new(1, 5), succeeded: true }));
    agent.until_stopped().await;
    assert_eq!(place.log(), ["seed", "demote", "promote", "stop"]);
}

#[tokio::test]
async fn leaving_holds_up_nothing_and_is_taken_over() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("leave.hangs", "");
    let first = agent.order(2, Action::Leave).await;
    let client = agent.client.clone();
    let leaving = tokio::spawn(async move { client.command(&first).await });
    place.until_logged("leave").await;
    agent.obeys(3, Action::Remember(2), true).await;
    let report = agent.report().await;
    assert_eq!((report.last.unwrap().stamp, report.evacuated), (Stamp::new(1, 3), false));
    let again = agent.order(4, Action::Leave).await;
    let client = agent.client.clone();
    let taken_over = tokio::spawn(async move { client.command(&again).await });
    // Its time is over after 5 s, and that is the answer to both.
    assert_eq!(leaving.await.unwrap().unwrap(), answered(2, false));
    assert_eq!(taken_over.await.unwrap().unwrap(), answered(4, false));
    assert_eq!(place.log(), ["seed", "leave"]);
    assert_eq!(agent.report().await.last, Some(Answer { stamp: Stamp::new(1, 4), succeeded: false }));
    let failure = agent.line().await.measured.failure.unwrap();
    assert_eq!((failure.action.as_str(), failure.how.as_str()), ("leave", "it did not end within 5 s"));
}

#[tokio::test]
async fn an_application_that_does_not_stop_is_killed() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("stop.hangs", "");
    let pid = place.number("pid");
    agent.obeys(2, Action::Stop, true).await;
    assert!(!super::place::lives(pid));
    agent.until_stopped().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said() {
    let place = Place::new();
    let path = place.path("config/engine.json");
    let mut engine: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    engine["actions"]["seed"]["command"] = serde_json::json!(["/there/is/no/such/program"]);
    std::fs::write(&path, engine.to_string()).unwrap();
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    agent.obeys(1, Action::Seed { forming: true }, false).await;
    let failure = agent.line().await.measured.failure.unwrap();
    assert!(failure.how.contains("/there/is/no/such/program: No such file"), "{}", failure.how);
    assert!(agent.until_stopped().await.empty);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    let before = agent.report().await;
    let post = |path: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let mut order = serde_json::to_value(agent.order(1, Action::Stop).await).unwrap();
    order["command"]["unless"] = true.into();
    let unknown = order.to_string();
    for (request, status) in [
        (post("/v1/command", "{}"), 400),
        (post("/v1/command", "nonsense"), 400),
        (post("/v1/command", &unknown), 400),
        (post("/v1/epoch", "{\"epoch\":-1}"), 400),
        (post("/v1/epoch", "{\"epoch\":9,\"more\":1}"), 400),
        (post("/v1/report", ""), 404),
        ("GET /v1/report?round=x HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), 400),
        ("GET /v2/report HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), 404),
        ("DELETE /v1/watch HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), 404),
        ("nonsense\r\n\r\n".to_owned(), 400),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(64 * 1024)), 431),
        (format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(64 * 1024)), 431),
    ] {
        let (got, body) = send(agent.agent, &place.ca, request.as_bytes()).await;
        assert_eq!(got, status, "{}: {body}", request.get(..60).unwrap_or(&request));
    }
    let large = post("/v1/command", &" ".repeat(MAX_MESSAGE_BYTES + 1));
    let (status, body) = send(agent.agent, &place.ca, large.as_bytes()).await;
    assert!(status == 413 && body.contains("at most"), "{status}: {body}");
    let after = agent.report().await;
    assert_eq!(
        (after.epoch, after.last, after.application),
        (before.epoch, before.last, Application::Stopped)
    );
}
